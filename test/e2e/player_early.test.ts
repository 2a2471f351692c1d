import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'

import { type Format, makeAudio, type Signal, tone } from '../support/audio.ts'
import type { Stack } from '../support/stack.ts'
import { names, type Opened, PATIENCE, setUp, type Workspace } from './player_setup.ts'
import { startOther } from './shared_stack.ts'
import { bytes, must, send, settle } from './steps.ts'

/** Tracks that are still being processed: they play the first file that is available, and later switch to a better one. */

let workspace: Workspace
let stack: Stack

beforeAll(async () => {
  // These tests need a separate stack, because they pause its transcoder.
  workspace = await setUp(async () => (stack = await startOther()))
})
afterAll(() => workspace?.dispose())

/** Creates a collection with one track that has no file yet, and a play session for the collection. */
async function aTrack(file_name: string, body: object = {}) {
  const { collection_id } = await must(workspace.server.post('/v1/collection', { body: { title: 'New' } }))
  const created = await must(workspace.server.post('/v1/track', { body: { collection_id, file_name } }))
  const session = await workspace.aSession({ collection_id, track_ids: [] }, body)
  return { ...created, session }
}

/** Pauses the transcoder and returns a function that resumes it. */
function pauseTranscoder() {
  const pid = stack.transcoder()
  process.kill(pid, 'SIGSTOP')
  const goOn = () => void process.kill(pid, 'SIGCONT')
  onTestFinished(goOn)
  return goOn
}

/** A tone of one second followed by silence. It is so long that its processing can be paused after the preliminary file is playable. */
const LONG_SIGNAL: Signal = { seconds: 301, rate: 8000, channels: 1, expression: `lt(t,1)*${tone(440, -12)}` }

/** Creates a track with a long file, and pauses its processing when the preliminary file is playable. `goOn` resumes processing. */
async function aLongTrack(format: Format, flags: string[], body?: object) {
  const track = await aTrack(`Long.${format}`, body)
  await send(track.track_upload, bytes(await makeAudio(format, LONG_SIGNAL, flags)))
  const { track_id } = track
  await must(workspace.server.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
  const params = { play_session_id: track.session, play_track_id: track_id }
  const expectPreliminary = async () => {
    const view = await must(workspace.server.get('/v1/play/{play_session_id}/{play_track_id}', { params }))
    expect(view.track.is_preliminary).toBe(true)
  }
  await vi.waitFor(expectPreliminary, { ...PATIENCE, interval: 50 })
  return { ...track, goOn: pauseTranscoder() }
}

const levelsOf = ({ page }: Opened) =>
  page.evaluate(
    () => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('tonearm-waveform')!.levels.length,
  )
const untilLevels = ({ page }: Opened) =>
  page.waitForFunction(
    () => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('tonearm-waveform')!.levels.length > 0,
    null,
    PATIENCE,
  )
const untilVariant = ({ page }: Opened, name: string) =>
  page.waitForFunction((wanted) => document.querySelector('tonearm-player')!.variant === wanted, name, PATIENCE)
/** Returns the minimum difference between two consecutive reported positions. It is negative if the position ever moved backward. */
async function stepBack({ events }: Opened): Promise<number> {
  const times = (await events('timeupdate')).map(({ detail }) => detail.currentTime as number)
  return Math.min(...times.slice(1).map((time, i) => time - times[i]!))
}

test('a track in processing plays as soon as it is ready', async () => {
  const { session, track_id, track_upload } = await aTrack('New.wav')
  // The transcoder is paused, so that nothing is processed before the player has shown the message.
  const goOn = pauseTranscoder()
  await send(track_upload, bytes(await makeAudio('wav', { seconds: 6 })))
  await must(workspace.server.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
  const opened = await workspace.open({ 'play-session-id': session, autoplay: '' })
  await opened.page.getByRole('status').getByText('still being processed').waitFor(PATIENCE)
  goOn()
  await settle(workspace.server, track_id)
  await opened.until('ready')
  await opened.untilTime(0.3)
  expect(await opened.page.getByRole('status').count()).toBe(0)
  expect(opened.problems).toEqual([])
  await opened.close()
})

/** Timeout in milliseconds. It is long because the transcoder runs at a low priority and yields to other processes. */
const LONG = 400_000

test(
  'a preliminary file is replaced by the final one at the same position, playing or paused',
  { timeout: LONG },
  async () => {
    // The bitrate is 64 kbit/s, because a session does not play a preliminary file that is better than its variants.
    const { track_id, session, goOn } = await aLongTrack('mp3', ['-b:a', '64k'])
    const playing = await workspace.open({ 'play-session-id': session, autoplay: '' })
    const paused = await workspace.open({ 'play-session-id': session, start: '1:40' })
    await playing.untilTime(1)
    await paused.until('ready')
    for (const opened of [playing, paused]) {
      expect((await opened.state()).variant).toBe('early')
      expect(await levelsOf(opened)).toBe(0)
    }
    goOn()
    await settle(workspace.server, track_id)
    for (const opened of [playing, paused]) {
      await untilVariant(opened, 'aac-160')
      await untilLevels(opened)
    }
    const { time } = await playing.state()
    await playing.untilTime(time + 0.5)
    expect(await playing.state()).toMatchObject({ paused: false, variant: 'aac-160' })
    const seen = await names(playing)
    expect(seen.filter((name) => name !== 'sessionrefresh')).toEqual(['trackchange', 'play', 'ready'])
    expect(await stepBack(playing)).toBeGreaterThan(-0.3)
    expect(await paused.state()).toMatchObject({ paused: true, time: 100, variant: 'aac-160' })
    await paused.call('play')
    await paused.untilTime(100.3)
    expect([...playing.problems, ...paused.problems]).toEqual([])
    await playing.close()
    await paused.close()
  },
)

test('an early file that is final continues to play, and its levels appear', { timeout: LONG }, async () => {
  const { track_id, session, goOn } = await aLongTrack('wav', [], { variants: ['lossless'] })
  const opened = await workspace.open({ 'play-session-id': session, autoplay: '' })
  await opened.untilTime(0.5)
  expect(await levelsOf(opened)).toBe(0)
  const fileOf = () =>
    opened.page.evaluate(() => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!.src)
  const before = await fileOf()
  goOn()
  await settle(workspace.server, track_id)
  await untilLevels(opened)
  expect(await fileOf()).toBe(before)
  expect(await opened.state()).toMatchObject({ paused: false, variant: 'lossless' })
  expect(await stepBack(opened)).toBeGreaterThan(0)
  expect(opened.problems).toEqual([])
  await opened.close()
})
