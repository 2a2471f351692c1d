import { t } from '../../base/text.ts'
import { TextField } from '../../ui/controls/field.tsx'
import { confirmed } from '../../ui/page/dialog.tsx'

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

/** Asks whether a key that names no sites may be used on all of them. Resolves to true if the user wants that. */
export const confirmsSites = (action = t('Create for any site')): Promise<boolean> =>
  confirmed({
    title: t('Any site?'),
    text: t('Anybody can copy the key from your page and use it on another. Name the sites that may use it.'),
    action,
    cancel: t('Name sites'),
  })
