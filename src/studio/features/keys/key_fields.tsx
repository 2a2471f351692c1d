import { parseSize } from '../../../client/upload/accept.ts'
import { UPLOADER_BYTES, UPLOADER_TRACKS } from '../../../contract/facts.ts'
import type { ApiKey, KeyType } from '../../base/api.ts'
import type { Faults } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { Check, NumberField, TextField } from '../../ui/controls/field.tsx'
import { sitesOf } from '../sharing/sites.ts'
import { SitesField } from '../sharing/sites_field.tsx'

/** The values of the fields for a key. An empty text of a limit stands for no limit. */
export interface KeyValues {
  title: string
  sites: string
  downloadable: boolean
  bytes: string
  tracks: string
}

type Settings = Pick<ApiKey, 'title' | 'allowed_origins' | 'is_downloadable' | 'max_bytes' | 'max_tracks'>

const UNITS = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['KB', 1e3],
] as const

/** Formats a size so that `parseSize` returns exactly the same number of bytes: `1500000` as `1500 KB`. */
function exactSize(bytes: number): string {
  const [unit, factor] = UNITS.find(([, factor]) => bytes > 0 && bytes % factor === 0) ?? ['', 1]
  return `${bytes / factor} ${unit}`.trim()
}

export const valuesOf = ({ title, allowed_origins, is_downloadable, max_bytes, max_tracks }: Settings): KeyValues => ({
  title,
  sites: allowed_origins?.join(' ') ?? '',
  downloadable: is_downloadable,
  bytes: max_bytes === null ? '' : exactSize(max_bytes),
  tracks: max_tracks === null ? '' : String(max_tracks),
})

/** The values for a new key. The limits are those that the service sets by default. */
export const NEW_KEY = valuesOf({
  title: '',
  allowed_origins: null,
  is_downloadable: false,
  max_bytes: UPLOADER_BYTES,
  max_tracks: UPLOADER_TRACKS,
})

export const isChanged = (before: KeyValues, after: KeyValues) =>
  (Object.keys(before) as (keyof KeyValues)[]).some((name) => before[name] !== after[name])

/** The fields of a request whose errors the form shows at a field. */
export const FIELDS = ['title', 'allowed_origins', 'max_bytes', 'max_tracks']

/** Whether play sessions are created or signed with a type of key that has restrictions. */
const isForListeners = (type: KeyType) => type === 'player' || type === 'signing'

/** Whether everybody can copy a type of key from the page that uses it. */
export const isOnPages = (type: KeyType) => type === 'player' || type === 'uploader'

/** Returns the settings of a key for a request, or the errors by field. */
export function settingsOf(type: KeyType, { title, sites, downloadable, bytes, tracks }: KeyValues) {
  const { origins, fault } = sitesOf(sites)
  const max_bytes = parseSize(bytes)
  const max_tracks = tracks.trim() === '' ? null : Number(tracks)
  const faults: Faults = {}
  if (type !== 'server' && fault) faults.allowed_origins = fault
  if (type === 'uploader') {
    if (bytes.trim() !== '' && max_bytes === null) faults.max_bytes = t('Write a size such as 500 MB or 20 GB.')
    if (max_tracks !== null && !(Number.isSafeInteger(max_tracks) && max_tracks >= 0))
      faults.max_tracks = t('Write a whole number.')
  }
  const settings = {
    title: title.trim(),
    ...(type !== 'server' && { allowed_origins: origins.length > 0 ? origins : null }),
    ...(isForListeners(type) && { is_downloadable: downloadable }),
    ...(type === 'uploader' && { max_bytes, max_tracks }),
  }
  return { settings, faults: Object.keys(faults).length > 0 ? faults : null }
}

interface Properties {
  type: KeyType
  values: KeyValues
  onChange: (change: Partial<KeyValues>) => void
  faults: Faults
}

/** The fields that a type of key has besides its title. */
export const KeyFields = ({ type, values, onChange, faults }: Properties) => (
  <>
    {type !== 'server' && (
      <SitesField value={values.sites} onInput={(sites) => onChange({ sites })} error={faults.allowed_origins} />
    )}
    {isForListeners(type) && (
      <Check
        label={t('Listeners may download')}
        checked={values.downloadable}
        onChange={(downloadable) => onChange({ downloadable })}
      />
    )}
    {type === 'uploader' && (
      <div class="pair">
        <TextField
          label={t('Data a day')}
          value={values.bytes}
          onInput={(bytes) => onChange({ bytes })}
          error={faults.max_bytes}
          hint={t('Such as 500 MB. Empty: no limit.')}
          maxLength={30}
        />
        <NumberField
          label={t('Tracks a day')}
          value={values.tracks}
          onInput={(tracks) => onChange({ tracks })}
          error={faults.max_tracks}
          hint={t('Empty: no limit.')}
        />
      </div>
    )}
  </>
)
