import type { Page } from 'playwright-core'

/** What Chromium makes of audio files, to the sample: of whole files, and of an `<audio>` element that plays. */

/** Samples of both channels; of a playing element, the first is the first that sounded. */
export type Heard = { left: Float32Array; right: Float32Array }

type Block = [left: Float32Array, right: Float32Array]

/**
 * Sees all that the element plays, however busy the machine is. Told a number of frames, it says that it listens, and later answers the
 * first that sound; told 0, what it has.
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

/** Opens an empty page, of the origin that serves the files. */
export async function openListeningPage(page: Page, origin: string): Promise<void> {
  const body = '<!doctype html><link rel="icon" href="data:,">'
  await page.route('**/listen', (route) => route.fulfill({ contentType: 'text/html', body }))
  await page.goto(`${origin}/listen`)
}

type File = { url: string; rate: number }

/** Decodes a whole file with `decodeAudioData`, at its own sample rate so that nothing is resampled. */
export async function decodeInPage(page: Page, file: File): Promise<Heard> {
  return page.evaluate(async ({ url, rate }) => {
    const bytes = await (await fetch(url)).arrayBuffer()
    const decoded = await new OfflineAudioContext(2, 1, rate).decodeAudioData(bytes)
    const right = Math.min(1, decoded.numberOfChannels - 1)
    return { left: decoded.getChannelData(0), right: decoded.getChannelData(right) }
  }, file)
}

type Listening = File & { positions: number[]; seconds: number }

/** Seeks in an `<audio>` element to one position after the other, and answers what sounds from there on for so many seconds. */
export async function listenFrom(page: Page, listening: Listening) {
  const { duration, played } = await page.evaluate(listen, { ...listening, tap: TAP })
  return { duration, played: played.map(({ blocks, ...rest }) => ({ ...rest, ...withoutGaps(blocks) })) }
}

// Runs in the page.
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
  const tell = (wanted: number) => node.port.postMessage(wanted)
  audio.addEventListener('ended', () => tell(0))

  const played: { position: number; arrived: number; blocks: Block[] }[] = []
  for (const position of positions) {
    const sought = once(audio, 'seeked')
    audio.currentTime = position
    await sought
    const arrived = audio.currentTime
    // What an end before this one was answered with may still be on its way.
    const listens = new Promise<void>((resolve) => (node.port.onmessage = ({ data }) => data === null && resolve()))
    tell(Math.ceil(seconds * rate))
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

/** Frames of a run of zeros that no sound of a test has. */
const GAP = 16

// Where the decoder is late, an element plays zeros and goes on where it was.
function withoutGaps(blocks: Block[]): Heard {
  const [left, right] = [blocks.flatMap((block) => [...block[0]]), blocks.flatMap((block) => [...block[1]])]
  const kept: number[] = []
  let zeros: number[] = []
  for (let i = 0; i < left.length; i++) {
    if (left[i] === 0 && right[i] === 0) zeros.push(i)
    else {
      if (zeros.length < GAP && kept.length > 0) kept.push(...zeros)
      kept.push(i)
      zeros = []
    }
  }
  return { left: Float32Array.from(kept, (i) => left[i]!), right: Float32Array.from(kept, (i) => right[i]!) }
}
