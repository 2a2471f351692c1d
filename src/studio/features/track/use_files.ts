import { MAX_SESSION_VARIANTS } from '../../../contract/facts.ts'
import type { Client, Failure, Track, TrackVariant, Variant } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { useQuery } from '../../data/query.ts'
import { sessionFor } from '../../data/views.ts'
import { announce } from '../../ui/page/announce.ts'
import { formatOf } from '../variants/variant.ts'

/** A file of a track, with the name and the format of its variant. */
export interface TrackFile extends TrackVariant {
  name: string
  format: string
  type: Variant['type'] | undefined
}

export interface TrackFiles {
  /** Undefined until they are read. */
  files: TrackFile[] | undefined
  problem: Failure | undefined
  reload: () => Promise<void>
  nameOf: (index: string) => string
}

/** Reads the files of a track, and the names of their variants. */
export function useFiles({ id, status }: Pick<Track, 'id' | 'status'>): TrackFiles {
  const client = useClient()
  const { answer, problem, reload } = useQuery({
    key: ['/v1/track/{track_id}/variant', id],
    version: status,
    load: () => client.get('/v1/track/{track_id}/variant', { params: { track_id: id } }),
  })
  const { entries } = useList('/v1/variant', ({ variants }) => variants)
  const find = (index: string) => entries.find((variant) => variant.index === index)
  const nameOf = (index: string) => find(index)?.name ?? index
  const files = answer?.variants.map((file) => {
    const variant = find(file.index)
    return { ...file, name: nameOf(file.index), format: formatOf(variant?.format), type: variant?.type }
  })
  return { files, problem, reload, nameOf }
}

/** Returns a play session of all files of a track, such as the original. */
export const filesSession = (client: Client, track_id: string, files: readonly TrackFile[]) =>
  sessionFor(
    client,
    'track',
    track_id,
    files.slice(0, MAX_SESSION_VARIANTS).map(({ index }) => index),
  )

/** Lets the browser download a file of a track. */
export async function downloadFile(client: Client, track_id: string, files: readonly TrackFile[], index: string) {
  const session = await filesSession(client, track_id, files)
  if (!session.ok) return announce(explain(session))
  const { play_session_id } = session
  const answer = await client.get('/v1/play/{play_session_id}/{play_track_id}/{variant_index}/download', {
    params: { play_session_id, play_track_id: track_id, variant_index: index },
  })
  if (!answer.ok) return announce(explain(answer))
  // The new tab closes by itself, because the file is an attachment. The page stays if the storage answers with an error.
  const { url: href } = answer.download
  Object.assign(document.createElement('a'), { href, target: '_blank', rel: 'noopener', download: '' }).click()
}
