import { LOCALES } from '../../../contract/facts.ts'
import { t, text } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { type Preferences, preferences, prefer } from '../../data/preferences.ts'
import { useStore } from '../../data/store.ts'
import { Choice } from '../../ui/controls/choice.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Head } from '../../ui/page/head.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { OrganizationForm } from './organization_form.tsx'

const THEMES = [
  ['system', text('As the system')],
  ['light', text('Light')],
  ['dark', text('Dark')],
] as const
const ROWS = [
  ['compact', text('Compact')],
  ['comfortable', text('Comfortable')],
] as const

/** Returns the name of a language in that language. */
const nameOf = (language: string) => new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language

/** The page Settings: the choices for this browser, and the settings of the organization. */
export function SettingsPage() {
  const { is_root } = useConnection()
  const { theme, language, rows } = useStore(preferences)
  useTitle(t('Settings'))
  const change = (changes: Partial<Preferences>) => void prefer(changes)
  return (
    <>
      <Head title={t('Settings')} />
      <section class="settings" aria-labelledby="browser-title">
        <div>
          <h2 id="browser-title">{t('This browser')}</h2>
          <p class="soft">{t('How the studio looks here.')}</p>
        </div>
        <div class="fields">
          <Choice label={t('Theme')} options={THEMES} value={theme} onChange={(chosen) => change({ theme: chosen })} />
          <Choice label={t('Rows')} options={ROWS} value={rows} onChange={(chosen) => change({ rows: chosen })} />
          <SelectField
            label={t('Language')}
            value={language ?? ''}
            options={[['', t('As the browser')], ...LOCALES.map((tag) => [tag, nameOf(tag)] as const)]}
            onChange={(chosen) => change({ language: chosen || null })}
          />
        </div>
      </section>
      {!is_root && <OrganizationForm />}
    </>
  )
}
