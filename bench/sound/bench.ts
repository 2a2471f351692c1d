import { parseArgs } from 'node:util'

import { type Client, createClient } from '../../src/client/index.ts'
import { playerCode } from '../../src/studio/features/sharing/snippets.ts'
import { joinBrowser } from '../../test/support/browser.ts'
import { type HostPage, startHostPage } from '../../test/support/host_page.ts'
import { startStack } from '../../test/support/stack.ts'
import { noiseWav } from '../../test/support/wav.ts'
import { watchOthers } from '../process.ts'
import { interval, median } from '../statistics.ts'
import { onEnd, withCleanup } from '../worker/cleanup.ts'
import { type Opening, openPage } from './opening.ts'

const HELP = `npm run bench -- sound [OPTIONS]      Linux only; loopback only
  --latency 100    milliseconds that each request takes in addition
  --rounds 9       times that each page is opened

Opens pages with a player in Chromium, each with an empty cache, and plays as soon as the player is ready. Prints the requests, the bytes and the long
tasks before the sound, and the time until it. The bench fails if more than three requests in sequence are needed.`

/** Maximum number of requests in sequence until sound: the page, the player, the audio. */
const MOST_IN_SEQUENCE = 3

interface Place {
  name: string
  /** Returns the address to open. Called for each round, because a player that has been opened leaves the session cached in the Worker. */
  open: () => Promise<string>
}

async function must<T extends { ok: boolean }>(calling: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const result = await calling
  if (!result.ok) throw new Error(JSON.stringify(result))
  return result as Extract<T, { ok: true }>
}

/** Uploads an album of `count` tracks and waits until it can be played. Returns its collection. */
async function uploadAlbum(client: Client, count: number, seconds: number): Promise<string> {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Album' } }))
  for (let at = 1; at <= count; at++) {
    const body = { collection_id, file_name: `${at}.wav` }
    const { track_id, track_upload } = await must(client.post('/v1/track', { body }))
    const file = new Uint8Array(noiseWav(44_100, seconds, 16, 2))
    await fetch(track_upload.upload_url, { method: track_upload.method, body: file })
    await must(client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
  }
  const params = { collection_id }
  for (;;) {
    const ready = await must(
      client.get('/v1/collection/{collection_id}/track', { params, query: { status: ['ready'], limit: 1 } }),
    )
    if (ready.count === count) return collection_id
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** The pages that are compared. The last one has only an `<audio>`: no page can be faster. */
function places(client: Client, base_url: string, collection_id: string, host: HostPage): Place[] {
  const session = async () => {
    const body = { collection_id, variants: ['mp3-128' as const, 'waveform' as const], expires_in: 3600 }
    return (await must(client.post('/v1/play_session/collection', { body }))).play_session_id
  }
  const ownPage = (head: (id: string) => string) => async () => {
    const id = await session()
    host.show(`<!doctype html><meta charset="utf-8"><title>Own page</title>${head(id)}`)
    return host.origin
  }
  const bare = async () => {
    const play_session_id = await session()
    const { tracks } = await must(client.get('/v1/play/{play_session_id}', { params: { play_session_id } }))
    const params = { play_session_id, play_track_id: tracks[0]!.id }
    const { variants } = await must(client.get('/v1/play/{play_session_id}/{play_track_id}', { params }))
    const source = variants.find(({ variant }) => variant.index === 'mp3-128')!.url
    host.show(`<!doctype html><title>Audio</title><audio autoplay src="${source.replaceAll('&', '&amp;')}"></audio>`)
    return host.origin
  }
  const shareOf = async () => {
    const { share } = await must(client.post('/v1/share', { body: { scope: 'collection', id: collection_id } }))
    return share.url
  }
  const element = (id: string) =>
    `<script type="module" src="${base_url}/elements/player.js"></script><tonearm-player play-session-id="${id}"></tonearm-player>`
  let share: Promise<string> | undefined
  return [
    { name: 'embed', open: async () => `${base_url}/embed/${await session()}` },
    { name: 'share', open: () => (share ??= shareOf()) },
    { name: 'own page, with the snippet', open: ownPage((id) => playerCode(base_url, { 'play-session-id': id })) },
    { name: 'own page, the element only', open: ownPage(element) },
    { name: 'page with only <audio>', open: bare },
  ]
}

const figure = (values: number[]) => {
  const [low, high] = interval(values).map((value) => Math.round(value))
  return `${Math.round(median(values))} (${low}–${high})`
}

function report(names: string[], openings: Opening[][]): void {
  const lowest = openings.at(-1)!
  console.log(`
page                          in sequence  requests      KB  long tasks, ms  ms until sound    times <audio>`)
  for (const [at, runs] of openings.entries()) {
    const inSequence = Math.max(...runs.map((run) => run.in_sequence))
    const ratios = runs.map((run, round) => run.sound_at / lowest[round]!.sound_at)
    const columns = [
      names[at]!.padEnd(28),
      String(inSequence).padStart(12),
      String(median(runs.map(({ requests }) => requests))).padStart(10),
      (median(runs.map(({ bytes }) => bytes)) / 1000).toFixed(0).padStart(8),
      String(Math.round(median(runs.map(({ long_tasks }) => long_tasks)))).padStart(16),
      figure(runs.map(({ sound_at }) => sound_at)).padStart(16),
      median(ratios).toFixed(2).padStart(17),
    ]
    console.log(columns.join(''))
    const isHinted = !names[at]!.includes('only')
    if (isHinted && inSequence > MOST_IN_SEQUENCE) {
      console.log(`WRONG: ${names[at]} needs ${inSequence} requests in sequence`)
      process.exitCode = 1
    }
  }
}

/** Measures what a listener waits for between a click on a link and the first sound. */
export const sound = {
  about: 'requests, bytes and time from a click on a link to sound: embed, share, own page',
  async run(args: string[]): Promise<void> {
    const text = (standard: string) => ({ type: 'string', default: standard }) as const
    const options = { latency: text('100'), rounds: text('9'), help: { type: 'boolean', default: false } } as const
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const latency = Number(values.latency)
    await withCleanup(async () => {
      const stack = await startStack()
      onEnd(stack.dispose)
      const host = await startHostPage()
      onEnd(host.close)
      const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
      const collection_id = await uploadAlbum(client, 3, 20)
      const all = places(client, stack.base_url, collection_id, host)
      const browser = await joinBrowser()
      onEnd(() => browser.close())
      const others = watchOthers(() => [])
      const openings: Opening[][] = all.map(() => [])
      const order = [...all.entries()]
      for (let round = 0; round <= Number(values.rounds); round++) {
        for (const [at, place] of round % 2 ? order.toReversed() : order) {
          const opening = await openPage(browser, await place.open(), latency)
          // The first round warms the Worker up.
          if (round > 0) openings[at]!.push(opening)
        }
      }
      report(
        all.map(({ name }) => name),
        openings,
      )
      console.log(
        `\n${latency} ms a request; all programs, ours included, used ${(others() * 100).toFixed(0)} % of the machine`,
      )
    })
  },
}
