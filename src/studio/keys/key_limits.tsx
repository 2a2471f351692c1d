import { parseSize } from '../../client/upload/accept.ts'
import type { ApiKey } from '../api.ts'
import type { Faults } from '../format.ts'
import { NumberField, TextField } from '../ui/field.tsx'

/** The texts in the fields for the limits of an uploader key. An empty text stands for no limit. */
export interface LimitTexts {
  bytes: string
  tracks: string
}

type Limits = Pick<ApiKey, 'max_bytes' | 'max_tracks'>

/** The limits of a new key, if the request contains none. */
export const DEFAULT_LIMITS: LimitTexts = { bytes: '20 GB', tracks: '500' }

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

export const limitTextsOf = ({ max_bytes, max_tracks }: Limits): LimitTexts => ({
  bytes: max_bytes === null ? '' : exactSize(max_bytes),
  tracks: max_tracks === null ? '' : String(max_tracks),
})

/** Returns the limits for a request, or the errors by field. */
export function limitsOf({ bytes, tracks }: LimitTexts): { limits: Limits; faults: Faults | null } {
  const max_bytes = parseSize(bytes)
  const max_tracks = tracks.trim() === '' ? null : Number(tracks)
  const faults: Faults = {}
  if (bytes.trim() !== '' && max_bytes === null) faults.max_bytes = 'Write a size such as 500 MB or 20 GB.'
  if (max_tracks !== null && !(Number.isSafeInteger(max_tracks) && max_tracks >= 0)) {
    faults.max_tracks = 'Write a whole number.'
  }
  return { limits: { max_bytes, max_tracks }, faults: Object.keys(faults).length > 0 ? faults : null }
}

interface Properties {
  value: LimitTexts
  onChange: (value: LimitTexts) => void
  faults: Faults
}

/** The fields for the daily limits of an uploader key. */
export const LimitFields = ({ value, onChange, faults }: Properties) => (
  <div class="field-row">
    <TextField
      label="Data a day"
      value={value.bytes}
      onInput={(bytes) => onChange({ ...value, bytes })}
      error={faults.max_bytes}
      hint="Such as 500 MB or 20 GB. Empty: no limit."
      maxLength={30}
    />
    <NumberField
      label="Tracks a day"
      value={value.tracks}
      onInput={(tracks) => onChange({ ...value, tracks })}
      error={faults.max_tracks}
    />
  </div>
)
