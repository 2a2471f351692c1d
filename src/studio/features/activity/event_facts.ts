import type { TonearmEvent } from '../../base/api.ts'
import { bytes, formatClock, joined, listText, plural } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { REASONS } from './event.ts'

type Fact = string | number | boolean | string[] | null

/** Returns the details of an event as text. */
export function factsOf({ data }: TonearmEvent): string {
  const facts = data as Partial<Record<string, Fact>>
  const details = [
    facts.organization_index,
    Array.isArray(facts.changed) && listText(facts.changed.map(fieldName)),
    facts.error,
    facts.reason && t(REASONS[facts.reason as keyof typeof REASONS] ?? String(facts.reason)),
    Array.isArray(facts.failed_variants) && t('lacks {variants}', { variants: listText(facts.failed_variants) }),
    typeof facts.duration === 'number' && formatClock(facts.duration),
    facts.is_restored && t('from the trash'),
    facts.is_trashed && t('into the trash'),
    useOf(facts.used_bytes, facts.max_bytes, bytes),
    useOf(facts.used_tracks, facts.max_tracks, (tracks) => plural(tracks, 'track')),
  ]
  return joined(details.filter(Boolean).map(String))
}

/** Returns `title` for the field `player_title`. */
const fieldName = (field: string) => field.replace(/^player_/, '').replaceAll('_', ' ')

/** Returns the use of a quota, such as `16 GB of 20 GB`; an empty text if it has no limit. */
const useOf = (used: unknown, limit: unknown, format: (value: number) => string) =>
  typeof used === 'number' && typeof limit === 'number'
    ? t('{used} of {limit}', { used: format(used), limit: format(limit) })
    : ''
