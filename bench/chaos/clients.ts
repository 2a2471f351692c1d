import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { makeWav } from '../../scripts/deploy/sample_files.ts'
import { call, type Created, put, type Stack } from '../stack.ts'

/** Client actions on a track: uploads, renewals, replacements and races, with a single `PUT` or in parts, and files that the service fetches. */

/** The file that a track should have at the end of the run. */
export interface ExpectedFile {
  seconds: number
  file_name: string
  bytes: number
}

interface Handle {
  /** Path of the uploaded object. The paths of a track sort by age, with the newest handle last. */
  path: string
  /** Sends the file and reports to the service that the upload is complete. */
  send: () => Promise<unknown>
}

type File = ExpectedFile & { data: Uint8Array<ArrayBuffer> }

/** Generates one second of a tone at a high sample rate and declares it as 16 kHz, so that it plays for `seconds`. */
function makeFile(file_name: string, seconds: number): File {
  const data = makeWav(16_000 * seconds)
  const header = new DataView(data.buffer)
  header.setUint32(24, 16_000, true)
  header.setUint32(28, 32_000, true)
  return { file_name, seconds, bytes: data.length, data }
}

/** Repeats an attempt until it returns a value, because a part of the stack may be down. */
export async function retryUntilDone<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const result = await attempt().catch(() => null)
    if (result !== null) return result
    await sleep(500)
  }
}

/** Milliseconds between two tenths of a file that the service fetches, so that some processes are killed meanwhile. */
const FETCH_PAUSE = 300

/** Serves a file slowly, until this process ends. Returns its URL. */
async function serveSlowly({ data }: File): Promise<string> {
  const server = createServer((_, response) => void sendSlowly(response).catch(() => response.destroy()))
  async function sendSlowly(response: ServerResponse) {
    response.writeHead(200, { 'content-length': data.length })
    const step = Math.ceil(data.length / 10)
    for (let at = 0; at < data.length; at += step) {
      response.write(data.subarray(at, at + step))
      await sleep(FETCH_PAUSE)
    }
    response.end()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/source`
}

const pathOf = (url: string) => new URL(url).pathname

/** Creates a track and returns functions that issue upload handles. `clientId` is the prefix of this client's idempotency keys. */
async function createTrack(stack: Stack, collection_id: string, clientId: string, first: File, source_url?: string) {
  const body = { collection_id, file_name: first.file_name, source_url }
  const created = await retryUntilDone(() => call<Created>(stack, '/track', body, clientId))
  const { track_id } = created
  const trackPath = `/track/${track_id}`
  let calls = 0
  const callOnce = <T>(path: string, sent: object) => {
    const key = `${clientId}-${++calls}`
    return retryUntilDone(() => call<T>(stack, `${trackPath}${path}`, sent, key))
  }
  // This call is not retried, because the service also detects the upload without it.
  const reportUpload = () => call(stack, `${trackPath}/upload_complete`, {}).catch(() => null)
  const single = (url: string, file: File): Handle => ({
    path: pathOf(url),
    send: async () => {
      await retryUntilDone(() => put(url, file.data))
      await reportUpload()
    },
  })
  return {
    track_id,
    first: single(created.track_upload.upload_url, first),
    async renew(file: File): Promise<Handle> {
      const { track_upload } = await callOnce<Created>('/upload', { file_name: file.file_name })
      return single(track_upload.upload_url, file)
    },
    async startMultipart(file: File): Promise<Handle> {
      const fileInfo = { file_name: file.file_name, file_size: file.bytes }
      const { multipart_upload, parts } = await callOnce<StartedMultipart>('/multipart', fileInfo)
      const { upload_url } = parts[0]!
      return {
        path: pathOf(upload_url),
        send: async () => {
          const etag = await retryUntilDone(() => put(upload_url, file.data))
          const done = [{ part_number: 1, etag }]
          // This call needs no idempotency key to be retried safely.
          await retryUntilDone(() => call(stack, `${trackPath}/multipart/${multipart_upload.id}/complete`, { done }))
        },
      }
    },
  }
}
interface StartedMultipart {
  multipart_upload: { id: string }
  parts: { upload_url: string }[]
}
type Track = Awaited<ReturnType<typeof createTrack>>

/** Performs one action on a new track. Returns the handles that were sent, with their files. `a` is the file of the first handle. */
type Action = (track: Track, a: File, b: File, c: File) => Promise<[Handle, File][]>

/** The action in which the service fetches the file from a URL, so no client sends it. */
const FETCHED = 'from a URL'

/** Each action returns every file that it sent. The track ends up with the file of the newest handle. */
export const ACTIONS: Record<string, Action> = {
  async upload(track, a) {
    await track.first.send()
    return [[track.first, a]]
  },
  async [FETCHED](track, a) {
    return [[track.first, a]]
  },
  async 'renew after sending'(track, a, b) {
    await track.first.send()
    const renewed = await track.renew(b)
    await renewed.send()
    return [
      [track.first, a],
      [renewed, b],
    ]
  },
  async 'renew without sending'(track, a, b) {
    await track.renew(b)
    await track.first.send()
    return [[track.first, a]]
  },
  async 'send to all, newest first'(track, a, b, c) {
    const [second, third] = [await track.renew(b), await track.renew(c)]
    for (const { send } of [third, second, track.first]) await send()
    return [
      [track.first, a],
      [second, b],
      [third, c],
    ]
  },
  async 'replace by two clients at once'(track, a, b, c) {
    await track.first.send()
    const replace = async (file: File): Promise<[Handle, File]> => {
      const renewed = await track.renew(file)
      await renewed.send()
      return [renewed, file]
    }
    return [[track.first, a], ...(await Promise.all([replace(b), replace(c)]))]
  },
  async 'replace in parts'(track, a, b) {
    await track.first.send()
    const parts = await track.startMultipart(b)
    await parts.send()
    return [
      [track.first, a],
      [parts, b],
    ]
  },
  async 'parts and a newer file'(track, _a, b, c) {
    const parts = await track.startMultipart(b)
    const renewed = await track.renew(c)
    await Promise.all([renewed.send(), parts.send()])
    return [
      [parts, b],
      [renewed, c],
    ]
  },
  async 'abandoned parts'(track, a, b, c) {
    await track.startMultipart(b)
    const [parts] = await Promise.all([track.startMultipart(c), track.first.send()])
    await parts.send()
    return [
      [track.first, a],
      [parts, c],
    ]
  },
}

/** Creates a track and performs one action on it. Returns the file that the track should have at the end of the run. */
export async function runAction(stack: Stack, collection_id: string, action: string, at: number, random: () => number) {
  const [a, b, c] = [1, 2, 3].map((n) => makeFile(`${at}-${n}.wav`, n * 3 + Math.floor(random() * 3))) as [
    File,
    File,
    File,
  ]
  const source_url = action === FETCHED ? await serveSlowly(a) : undefined
  const track = await createTrack(stack, collection_id, `chaos-${at}`, a, source_url)
  const sent = await ACTIONS[action]!(track, a, b, c)
  const [, { data: _data, ...winner }] = sent.reduce((newest, other) =>
    other[0].path > newest[0].path ? other : newest,
  )
  return { track_id: track.track_id, winner }
}
