import type { Page } from 'playwright-core'

/** Returns the samples that Chromium decodes from an audio file, either of the whole file or while an `<audio>` element plays it. */

/** The samples of both channels. For a playing element, they start with the first nonzero sample. */
export type StereoSamples = { left: Float32Array; right: Float32Array }

type Block = [left: Float32Array, right: Float32Array]

/**
 * An audio worklet that records everything the element plays, however busy the machine is. A message with a number of
 * frames starts a recording: the worklet confirms the start and later returns that many nonzero frames. The message 0
 * ends the recording and returns its frames.
 */
const TAP = `registerProcessor('tap', class extends AudioWorkletProcessor {
  constructor() {
    super()
    this.wanted = 0
    this.port.onmessage = ({ data }) => (data > 0 ? this.listen(data) : this.answer())
  }
  listen(wanted) {
    Object.assign(this, { wanted, blocks: [] })
    this.port.postMessage(null)
  }
  answer() {
    this.wanted = 0
    this.port.postMessage(this.blocks)
  }
  process([[left, right]]) {
    if (this.wanted <= 0 || !right?.some((value) => value !== 0)) return true
    this.blocks.push([left.slice(), right.slice()])
    this.wanted -= left.length
    if (this.wanted <= 0) this.answer()
    return true
  }
})`

/** Opens an empty page on the origin that serves the audio files. */
export async function openListeningPage(page: Page, origin: string): Promise<void> {
  const body = '<!doctype html><link rel="icon" href="data:,">'
  await page.route('**/listen', (route) => route.fulfill({ contentType: 'text/html', body }))
  await page.goto(`${origin}/listen`)
}

type File = { url: string; rate: number }

/** Decodes a whole file with `decodeAudioData`, at the file's sample rate so that nothing is resampled. */
export async function decodeInPage(page: Page, file: File): Promise<StereoSamples> {
  return page.evaluate(async ({ url, rate }) => {
    const bytes = await (await fetch(url)).arrayBuffer()
    const decoded = await new OfflineAudioContext(2, 1, rate).decodeAudioData(bytes)
    const right = Math.min(1, decoded.numberOfChannels - 1)
    return { left: decoded.getChannelData(0), right: decoded.getChannelData(right) }
  }, file)
}

type Listening = File & { positions: number[]; seconds: number }

/** Seeks an `<audio>` element to each position, and returns the samples that it plays in the following `seconds`. */
export async function listenFrom(page: Page, listening: Listening) {
  const { duration, played } = await page.evaluate(listen, { ...listening, tap: TAP })
  return { duration, played: played.map(({ blocks, ...rest }) => ({ ...rest, ...withoutGaps(blocks) })) }
}

// This function runs in the page.
async function listen({ url, rate, positions, seconds, tap }: Listening & { tap: string }) {
  const once = (target: EventTarget, name: string) =>
    new Promise((resolve) => target.addEventListener(name, resolve, { once: true }))
  const context = new AudioContext({ sampleRate: rate })
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([tap], { type: 'text/javascript' })))
  const audio = new Audio(url)
  await once(audio, 'canplay')
  const node = new AudioWorkletNode(context, 'tap')
  context.createMediaElementSource(audio).connect(node).connect(context.destination)

  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; this is a MessagePort
  const record = (wanted: number) => node.port.postMessage(wanted)
  audio.addEventListener('ended', () => record(0))

  const played: { position: number; arrived: number; blocks: Block[] }[] = []
  for (const position of positions) {
    const sought = once(audio, 'seeked')
    audio.currentTime = position
    await sought
    const arrived = audio.currentTime
    // The response to an earlier 0 may still be in flight, so only the confirmation `null` counts.
    const listens = new Promise<void>((resolve) => (node.port.onmessage = ({ data }) => data === null && resolve()))
    record(Math.ceil(seconds * rate))
    await listens
    const blocks = new Promise<Block[]>((resolve) => (node.port.onmessage = ({ data }) => resolve(data)))
    await audio.play()
    played.push({ position, arrived, blocks: await blocks })
    if (audio.paused) continue
    const paused = once(audio, 'pause')
    audio.pause()
    await paused
  }
  await context.close()
  return { duration: audio.duration, played }
}

/** The minimum length in frames of a gap. No sound of a test contains this many zeros in a row. */
const GAP = 16

// Removes runs of zeros. An element plays them when the decoder is late, and then continues at the same position.
function withoutGaps(blocks: Block[]): StereoSamples {
  const [left, right] = [blocks.flatMap((block) => [...block[0]]), blocks.flatMap((block) => [...block[1]])]
  const audible: number[] = []
  let zeros: number[] = []
  for (let i = 0; i < left.length; i++) {
    if (left[i] === 0 && right[i] === 0) zeros.push(i)
    else {
      if (zeros.length < GAP && audible.length > 0) audible.push(...zeros)
      audible.push(i)
      zeros = []
    }
  }
  return { left: Float32Array.from(audible, (i) => left[i]!), right: Float32Array.from(audible, (i) => right[i]!) }
}
