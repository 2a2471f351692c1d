import { t } from '../../base/text.ts'
import { TextField } from '../../ui/controls/field.tsx'

interface Properties {
  value: string
  onInput: (value: string) => void
  error: string | undefined
  hint?: string
}

/** The field for the sites whose pages may use a key or show a link (sites.ts). */
export const SitesField = ({
  hint = t('Whose pages may use it, with spaces between them. Empty: any site.'),
  ...properties
}: Properties) => (
  <TextField {...properties} label={t('Sites')} maxLength={10_000} placeholder="www.example.com" hint={hint} />
)
