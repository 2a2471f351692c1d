import { TextField } from '../ui/field.tsx'

interface Properties {
  value: string
  onInput: (value: string) => void
  error: string | undefined
}

/** The field for the sites whose pages may use a key (sites.ts). */
export const SitesField = (properties: Properties) => (
  <TextField
    {...properties}
    label="Sites"
    maxLength={10_000}
    placeholder="www.example.com"
    hint="Whose pages may use it, with spaces between them. Empty: any site."
  />
)
