import { type PageProperties, setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { Chips } from '../../ui/controls/chips.tsx'
import { Head } from '../../ui/page/head.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { FILTERS, groupOf, PATTERNS, typesOf, eventLabel } from './event.ts'
import { type EventFilter, EventList } from './event_list.tsx'

/** The page Activity: the events of the last 30 days, of all types, a group or one type. The address has the choice. */
export function ActivityPage({ query }: PageProperties) {
  useTitle(t('Activity'))
  // An unknown type in the address shows all events.
  const type = PATTERNS.includes(query.type ?? '') ? query.type! : ''
  const group = type && groupOf(type)
  const types = group ? typesOf(group) : []
  const filter: EventFilter = type ? { type: type as 'track.*' } : {}
  const choose = (pattern: string) => setQuery({ type: pattern })
  return (
    <>
      <Head title={t('Activity')} note={t('Changes of the last 30 days, and who made them.')} />
      <Chips
        label={t('Show')}
        value={group}
        options={[['', t('All')], ...FILTERS.map(([pattern, label]) => [pattern, t(label)] as const)]}
        onChange={choose}
      />
      {types.length > 1 && (
        <Chips
          label={t('Events')}
          value={type}
          options={[[group, eventLabel(group)], ...types.map((one) => [one, eventLabel(one)] as const)]}
          onChange={choose}
        />
      )}
      <EventList filter={filter} label={t('Activity')} />
    </>
  )
}
