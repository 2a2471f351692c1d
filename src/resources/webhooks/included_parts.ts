import type { Context } from '../../context.ts'
import type { TonearmEvent } from '../../contract/event.ts'
import type { PlayScope } from '../../contract/play.ts'
import { type Include, isIncluded } from '../library/list_items.ts'
import { artworkOf } from '../library/resource_artwork.ts'
import { titlesOf } from '../library/titles.ts'

type Kind = Parameters<typeof titlesOf>[1][number]['kind']

const PICTURED: readonly Kind[] = ['track', 'collection', 'playlist'] satisfies PlayScope[]

/**
 * Adds the parts that `include` asks for to the events of a page: titles, the collections of tracks, and covers. Stored events have none
 * (docs/decisions/0056).
 */
export async function withParts(context: Context, include: Include, events: TonearmEvent[]): Promise<TonearmEvent[]> {
  const resources = events.map(({ subject, data }) => {
    const [kind, id] = subject.split(':') as [Kind, string]
    const collection_id = kind === 'track' && 'collection_id' in data ? data.collection_id : null
    return { kind, id, scope: kind as PlayScope, resource_id: id, collection_id }
  })
  const pictured = isIncluded(include, 'artwork') ? resources.filter(({ kind }) => PICTURED.includes(kind)) : []
  const [titles, artwork] = await Promise.all([
    titlesOf(context, [
      ...(isIncluded(include, 'titles') ? resources : []),
      ...(isIncluded(include, 'collection')
        ? resources.flatMap(({ collection_id: id }) => (id ? [{ kind: 'collection' as const, id }] : []))
        : []),
    ]),
    pictured.length > 0 ? artworkOf(context, pictured) : null,
  ])
  return Promise.all(
    events.map(async (event, at) => {
      const { id, kind, collection_id, ...resource } = resources[at]!
      const collection = collection_id && titles.get(collection_id)
      return {
        ...event,
        ...(isIncluded(include, 'titles') && { title: titles.get(id) ?? null }),
        ...(isIncluded(include, 'collection') && {
          collection: collection ? { id: collection_id, title: collection } : null,
        }),
        ...(artwork && PICTURED.includes(kind) && { artwork: await artwork(resource) }),
      }
    }),
  )
}
