import { expect } from 'vitest'

import type { Client } from '../../src/client/index.ts'
import type { HeardReport } from '../../src/contract/heard.ts'
import { must } from './steps.ts'

/** Listeners of a track in a collection, as far as the service knows them: each visit sends one report. */
export class Listeners {
  readonly #url: string
  readonly #track: string

  private constructor(url: string, track: string) {
    this.#url = url
    this.#track = track
  }

  /** Creates their play session. `client` has a server key, or the key of a share. */
  static async join(client: Client, base_url: string, collection_id: string, track: string): Promise<Listeners> {
    const body = { collection_id, expires_in: 900 }
    const session = await must(client.post('/v1/play_session/collection', { body }))
    return new Listeners(`${base_url}/v1/heard/${session.heard_token}`, track)
  }

  /** Sends the report of a new visit that heard the first seconds of the track. */
  async hear(seconds: number, changes: Partial<HeardReport['listens'][number]> = {}, age = 30, status = 204) {
    const report: HeardReport = {
      visit: crypto.randomUUID().replaceAll('-', '').slice(0, 16),
      sequence: 1,
      age,
      first: 0,
      source: 'shop.example',
      listens: [{ track: this.#track, ranges: [[0, seconds]], ...changes }],
    }
    const response = await fetch(this.#url, { method: 'POST', body: JSON.stringify(report) })
    expect(response.status, await response.text()).toBe(status)
  }
}
