import { isTransient } from '../../../client/retry.ts'
import { MAX_PAGE } from '../../../contract/facts.ts'
import type { Client, Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { announce } from '../../ui/page/announce.ts'
import { entriesOf, type Entry, type FoundTrack, idsOf, insertionOf, merged } from './entries.ts'

/** The parts that a row shows besides the track itself. */
export const INCLUDE = ['artwork', 'collection'] as const
/** The path of the tracks of a playlist. */
export const PATH = '/v1/playlist/{playlist_id}/track'

/** The entries of a playlist as the service has them. */
export interface Saved {
  ok: true
  entries: readonly Entry[]
  version: number
}

/** Reads all tracks of a playlist. It starts again if the playlist changes between two pages. */
export async function readEntries(client: Client, playlist_id: string, signal?: AbortSignal): Promise<Saved | Failure> {
  const readPage = (offset: number) => {
    const query = { offset, limit: MAX_PAGE, include: INCLUDE }
    return client.get(PATH, { params: { playlist_id }, query, ...(signal && { signal }) })
  }
  for (;;) {
    const first = await readPage(0)
    if (!first.ok) return first
    const offsets = Array.from({ length: Math.ceil(first.count / MAX_PAGE) }, (_, at) => at * MAX_PAGE)
    const others = await Promise.all(offsets.slice(1).map(readPage))
    const tracks: FoundTrack[] = [...first.tracks]
    let isSame = true
    for (const page of others) {
      if (!page.ok) return page
      isSame &&= page.version === first.version
      tracks.push(...page.tracks)
    }
    if (isSame) return { ok: true, entries: entriesOf(tracks), version: first.version }
  }
}

/** The entries as the service has them, and those that the user wants. One request at a time brings them together. */
export class Saving {
  saved: Saved
  wanted: readonly Entry[]
  isRunning = false
  problem: Failure | undefined
  onChange: () => void = () => {}
  readonly #client: Client
  readonly #params: { playlist_id: string }

  constructor(client: Client, playlist_id: string, saved: Saved) {
    this.#client = client
    this.#params = { playlist_id }
    this.saved = saved
    this.wanted = saved.entries
  }

  get isSaved(): boolean {
    return this.wanted === this.saved.entries
  }

  want(entries: readonly Entry[]): void {
    this.wanted = entries
    void this.save()
  }

  /** Sends what is wanted. Without a connection, it keeps it. If the service refuses it, it shows what the service has. */
  save = async (): Promise<void> => {
    if (this.isRunning) return
    this.isRunning = true
    this.#show(undefined)
    let failure: Failure | undefined
    while (!failure && !this.isSaved) failure = await this.#send(this.wanted)
    this.isRunning = false
    this.#show(failure)
  }

  #show(problem: Failure | undefined): void {
    this.problem = problem
    this.onChange()
  }

  async #send(entries: readonly Entry[]): Promise<Failure | undefined> {
    const headers = { 'if-match': String(this.saved.version) }
    const added = insertionOf(this.saved.entries, entries)
    const ids = idsOf(entries)
    const params = this.#params
    const answer = added
      ? await this.#client.post(PATH, {
          params,
          headers,
          body: { track_ids: ids.slice(added.position, added.position + added.count), position: added.position },
        })
      : await this.#client.put(PATH, { params, headers, body: { track_ids: ids } })
    if (answer.ok) {
      this.saved = { ok: true, entries, version: answer.playlist.version }
      return undefined
    }
    if (isTransient(answer)) return answer
    const theirs = await readEntries(this.#client, params.playlist_id)
    if (!theirs.ok) return theirs
    const isConflict = answer.code === 'version_mismatch'
    const next = isConflict ? merged(this.saved.entries, this.wanted, theirs.entries) : theirs.entries
    this.saved = theirs
    // The same list is saved already, for example if the response to the first request was lost.
    this.wanted = idsOf(next).join() === idsOf(theirs.entries).join() ? theirs.entries : next
    this.onChange()
    announce(
      isConflict
        ? t('Someone else has changed this playlist at the same time. Both changes were kept.')
        : explain(answer),
    )
    return undefined
  }
}
