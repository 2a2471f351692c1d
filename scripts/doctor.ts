import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { adviceOn } from '../container/process/ffmpeg.ts'
import { createClient, waitForTrack } from '../src/client/index.ts'
import { FILL_WARNING, LISTENING_WARNING } from '../src/contract/facts.ts'
import { request, checkPlayback, checkUpload } from './deploy/bucket_checks.ts'
import { checkListening } from './deploy/listening_check.ts'
import { checkMedia } from './deploy/media_checks.ts'
import { check, countFailures, expect, unwrap } from './deploy/report_check.ts'
import { makePng, makeWav } from './deploy/sample_files.ts'
import { readSettings, SETTINGS } from './shared/settings.ts'

/**
 * `ROOT_KEY=… npm run doctor -- --url …`: tests a deployment by uploading, processing and playing one second of audio, and by a listening
 * report. It reports each fault with its remedy, and deletes its test data. Without arguments it checks the system that `npm start` runs. With ROOT_KEY it also
 * checks the operator's view, and creates an organization for the test unless TONEARM_KEY contains a server key. With `--media`, it also checks the
 * domain of the files.
 */

/** Timeout in milliseconds, including the start of a container. */
const TRANSCODE_TIMEOUT = 300_000
const CLOCK_SKEW = 60_000
const OTHER_STATE_HINT =
  'give the PORT and STATE_DIR that npm start has: PORT=9000 STATE_DIR=.wrangler/other npm run doctor'

const { values } = readArguments()
const base_url = (values.url ?? `http://localhost:${process.env.PORT || SETTINGS.PORT.standard}`).replace(/\/+$/, '')
const { origin, hostname } = new URL(base_url)
const isLocal = hostname === 'localhost' || hostname.startsWith('127.')
const { ROOT_KEY: root_key } = process.env
let client = createClient({ base_url, api_key: process.env.TONEARM_KEY || (values.url ? '' : localKey()) })

function readArguments() {
  try {
    return parseArgs({ options: { url: { type: 'string' }, media: { type: 'boolean', default: false } } })
  } catch {
    console.error(
      'Usage: [ROOT_KEY=… | TONEARM_KEY=ta_sk_…] [PORT=…] [STATE_DIR=…] npm run doctor [-- --url https://audio.example.com] [--media]',
    )
    process.exit(2)
  }
}

function localKey(): string {
  try {
    const path = `${process.env.STATE_DIR || SETTINGS.STATE_DIR.standard}/demo.json`
    return (JSON.parse(readFileSync(path, 'utf8')) as { secret: string }).secret
  } catch {
    return ''
  }
}

/** Prints the version and the age of the ffmpeg of `npm start`. */
async function reportFfmpeg(): Promise<void> {
  const { transcoderPort, secrets } = readSettings()
  const headers = { authorization: `Bearer ${secrets.TRANSCODER_SECRET}` }
  const response = await request(`http://127.0.0.1:${transcoderPort}/health`, { headers }).catch(() => undefined)
  const { ffmpeg, ffmpeg_year = null } = ((await response?.json().catch(() => undefined)) ?? {}) as Partial<{
    ffmpeg: string
    ffmpeg_year: number | null
  }>
  const advice = adviceOn(ffmpeg_year)
  if (advice) console.log(`-       ffmpeg ${ffmpeg}: ${advice}`)
  else if (ffmpeg) console.log(`ok      ffmpeg ${ffmpeg}${ffmpeg_year ? ` of ${ffmpeg_year}` : ''}`)
  else console.log(`-       ffmpeg: not read, because no transcoder answers on port ${transcoderPort}`)
}

/**
 * Checks that R2's event starts the processing of the track. The track is read only in a list, because lists do not poll for uploads; so
 * only the event can start it this soon.
 */
async function eventArrives(collection_id: string): Promise<[string, true]> {
  for (let seconds = 0; seconds < 30; seconds++) {
    const { tracks } = await unwrap(client.get('/v1/collection/{collection_id}/track', { params: { collection_id } }))
    if (tracks[0]?.status !== 'initializing') return [`after ${seconds} s`, true]
    await sleep(1000)
  }
  throw new Error('still initializing after 30 s')
}

/** Returns the URLs of a play view whose session lasts `expires_in` seconds, the names of its variants, and the session's token for listening reports. */
async function viewUrls(track_id: string, expires_in: number) {
  const body = { track_id, expires_in }
  const session = await unwrap(client.post('/v1/play_session/track', { body }))
  const params = { play_session_id: session.play_session_id, play_track_id: track_id }
  const { variants } = await unwrap(
    createClient({ base_url }).get('/v1/play/{play_session_id}/{play_track_id}', { params }),
  )
  expect(variants[0], 'no variant can be played')
  return {
    urls: variants.map(({ url }) => url),
    names: variants.map(({ variant }) => variant.index),
    heard_token: session.heard_token,
  }
}

async function play(track_id: string): Promise<void> {
  const view = await check('play view without a key', 'look at the logs: npx wrangler tail', async () => {
    const view = await viewUrls(track_id, 60)
    return [view.names.join(', '), view]
  })
  if (!view) return
  const { urls, heard_token } = view.value
  await checkPlayback(urls[0]!, origin)
  if (values.media) await checkMedia(urls, (await viewUrls(track_id, 120)).urls[0]!)
  if (process.env.TONEARM_KEY)
    console.log(
      '-       listening: not tested, because the statistics of the organization of TONEARM_KEY keep each report',
    )
  else await checkListening(base_url, client, track_id, heard_token)
}

async function checkUploadAndPlayback(collection_id: string, cover_url: string): Promise<void> {
  await check('cover', 'SIGNING_SECRET must be set and the transcoder reachable: npx wrangler tail', async () => {
    const response = await request(cover_url, {
      method: 'POST',
      body: makePng(),
      headers: { 'content-type': 'image/png' },
    })
    expect(response.status === 200, `${response.status} ${await response.text()}`)
    return ['', true]
  })
  const file = makeWav()
  const body = { collection_id, file_name: 'doctor.wav', file_size: file.length, content_type: 'audio/wav' }
  const track = await check('track', 'see the message', async () => [
    '',
    await unwrap(client.post('/v1/track', { body })),
  ])
  if (!track || !(await checkUpload(track.value.track_upload.upload_url, file, origin))) return
  if (isLocal) console.log('-       R2 event: npm start has none; reading the track starts the processing')
  else
    await check('R2 event', 'npm run deploy sets the rule; until then processing starts late', () =>
      eventArrives(collection_id),
    )
  const ready = await check(
    'transcode',
    'npx wrangler tail; Containers in the dashboard; TRANSCODER_SECRET',
    async () => {
      const startedAt = Date.now()
      const signal = AbortSignal.timeout(TRANSCODE_TIMEOUT)
      const result = await unwrap(waitForTrack(client, track.value.track_id, { signal }))
      const { status, info, duration } = result.track
      expect(status === 'ready', `${status} ${JSON.stringify(info.error ?? info.failed_variants)}`)
      return [`${duration} s of audio in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`, true]
    },
  )
  if (ready) await play(track.value.track_id)
}

/** Checks the operator's view of the system. A failure of a single file is not a fault of the service. */
async function checkSystem(root_key: string): Promise<void> {
  const checked = await check('system', 'docs/operate.md#watch', async () => {
    const { system } = await unwrap(createClient({ base_url, api_key: root_key }).get('/v1/system'))
    const missing = system.missing.length > 0 ? `; missing: ${system.missing.join(', ')}` : ''
    const open = system.media.is_open ? '; the domain of the files serves them without a token' : ''
    expect(system.failing.length === 0, `${system.failing.join(' and ')} failing${missing}${open}`)
    const count = (rows: { count: number }[]) => rows.reduce((sum, row) => sum + row.count, 0)
    const openJobs = count(system.jobs.filter(({ state }) => state === 'open'))
    return [`${openJobs} open jobs; ${count(system.failures)} failed in 24 hours`, system]
  })
  if (!checked) return
  const { bytes, limit, fraction, milliseconds } = checked.value.database
  await check('database size', 'make room before 95 %: docs/operate.md#a-full-database', async () => {
    const text = `${((bytes ?? 0) / 1e9).toFixed(2)} of ${limit / 1e9} GB (${((fraction ?? 0) * 100).toFixed(1)} %), answers in ${milliseconds} ms`
    expect((fraction ?? 0) < FILL_WARNING, text)
    return [text, true]
  })
  const { largest } = checked.value.listening
  if (!largest) return
  await check('size of listening', 'docs/runbooks.md#listening-is-filling-up', async () => {
    const text = `the largest object has ${(largest.bytes / 1e9).toFixed(2)} of ${largest.limit / 1e9} GB`
    expect(largest.fraction < LISTENING_WARNING, `${text}: organization ${largest.organization_id}`)
    return [text, true]
  })
}

async function runChecks(): Promise<void> {
  const health = await check(
    'health',
    isLocal
      ? `run npm start; if it is not at ${base_url}, ${OTHER_STATE_HINT}`
      : 'run npm run deploy; npx wrangler tail; docs/operate.md#watch explains each part',
    async () => {
      const response = await request(`${base_url}/health`)
      expect(response.ok, `${response.status} ${await response.text()}`)
      return ['', response.headers.get('date')]
    },
  )
  if (!health) return root_key ? checkSystem(root_key) : undefined
  const time = health.value
  if (time === null) console.log('-       clock: not compared, because the response has no Date header')
  else
    await check('clock', 'set the clock of this machine: signed URLs depend on the time', async () => {
      const skew = Math.abs(Date.now() - Date.parse(time))
      expect(skew < CLOCK_SKEW, `${Math.round(skew / 1000)} s away from the service's`)
      return ['', true]
    })
  if (!values.url) await reportFfmpeg()
  if (root_key) await checkSystem(root_key)
  if (root_key && !process.env.TONEARM_KEY && values.url) await inOwnOrganization(root_key, checkService)
  else await checkService()
}

/** Runs checks with the key of a new organization, which is deleted afterwards. */
async function inOwnOrganization(root_key: string, run: () => Promise<void>): Promise<void> {
  const operator = createClient({ base_url, api_key: root_key })
  const created = await check('organization', 'see the message; npx wrangler tail', async () => [
    '',
    await unwrap(operator.post('/v1/organization', { body: { name: 'Doctor (may be deleted)' } })),
  ])
  if (!created) return
  const { organization_id, secret } = created.value
  client = createClient({ base_url, api_key: secret })
  await run()
  const params = { organization_id }
  await check('delete the organization', `DELETE /v1/organization/${organization_id}`, async () => [
    '',
    await unwrap(operator.delete('/v1/organization/{organization_id}', { params })),
  ])
}

async function checkService(): Promise<void> {
  const keyHint = 'give the root key in ROOT_KEY, or a server key in TONEARM_KEY (docs/operate.md#check)'
  const advice = values.url ? keyHint : `${OTHER_STATE_HINT}; or a server key in TONEARM_KEY`
  const created = await check('key and database', advice, async () => [
    '',
    await unwrap(client.post('/v1/collection', { body: { title: 'Doctor (may be deleted)' } })),
  ])
  if (!created) return
  const { collection_id, collection_cover_upload } = created.value
  try {
    await checkUploadAndPlayback(collection_id, collection_cover_upload.upload_url)
  } finally {
    await check('clean up', `DELETE /v1/collection/${collection_id}`, async () => [
      '',
      await unwrap(client.delete('/v1/collection/{collection_id}', { params: { collection_id } })),
    ])
  }
}

console.log(`${base_url}\n`)
await runChecks()
console.log(countFailures() === 0 ? '\nAll is well.' : `\n${countFailures()} failed.`)
process.exitCode = countFailures() === 0 ? 0 : 1
