import type { Context } from '../../context.ts'
import type { TonearmEvent } from '../../contract/event.ts'
import { titlesOf } from '../library/titles.ts'

type Subject = Parameters<typeof titlesOf>[1][number]

/** Adds the current titles of their subjects to the events of a page. Stored events have none (docs/decisions/0056). */
export async function withTitles(context: Context, events: TonearmEvent[]): Promise<TonearmEvent[]> {
  const subjects = events.map(({ subject }) => {
    const [kind, id] = subject.split(':')
    return { kind, id } as Subject
  })
  const titles = await titlesOf(context, subjects)
  return events.map((event, at) => ({ ...event, title: titles.get(subjects[at]!.id) ?? null }))
}
