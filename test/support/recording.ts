/** Records what the audio context of a page plays, to the sample. The functions run in the page. */

/** Both channels as integers of 16 bits, from the first frame with sound to the last one. `rate` is in Hz. */
export type Recording = { rate: number; left: Int16Array; right: Int16Array }

/** Records from now on. Must run before the scripts of the page. A policy of the page would block the recorder. */
export function startRecording(): void {
  const recorder = `registerProcessor('recorder', class extends AudioWorkletProcessor {
    constructor() {
      super()
      this.blocks = []
      this.port.onmessage = () => this.port.postMessage(this.blocks)
    }
    process([[left, right]]) {
      this.blocks.push([left.slice(), right.slice()])
      return true
    }
  })`
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the node as `this`
  const connect = AudioNode.prototype.connect as (target: AudioNode, ...rest: number[]) => AudioNode
  let opening: Promise<AudioWorkletNode> | undefined
  async function open(context: BaseAudioContext): Promise<AudioWorkletNode> {
    await context.audioWorklet.addModule(URL.createObjectURL(new Blob([recorder], { type: 'text/javascript' })))
    const node = new AudioWorkletNode(context, 'recorder', { channelCount: 2, channelCountMode: 'explicit' })
    // Without a source, a node has no input.
    const silence = new ConstantSourceNode(context, { offset: 0 })
    silence.start()
    connect.call(silence, node)
    Object.assign(window, { recorder: node })
    return node
  }
  AudioNode.prototype.connect = function (this: AudioNode, target: AudioNode, ...rest: number[]) {
    if (!(target instanceof AudioDestinationNode)) return connect.call(this, target, ...rest)
    opening ??= open(this.context)
    void opening.then((node) => connect.call(this, node, ...rest))
    return connect.call(this, target, ...rest)
  } as AudioNode['connect']
}

/** Returns what was recorded: 16-bit integers of both channels in turn, as base64; null if no audio context was used. */
export async function readRecording(): Promise<{ rate: number; base64: string } | null> {
  const { recorder } = window as unknown as { recorder?: AudioWorkletNode }
  if (!recorder) return null
  const blocks = await new Promise<[Float32Array, Float32Array][]>((resolve) => {
    recorder.port.onmessage = ({ data }) => resolve(data)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; this is a MessagePort
    recorder.port.postMessage(null)
  })
  const samples = new Int16Array(blocks.length * 256)
  for (const [i, [left, right]] of blocks.entries())
    for (let k = 0; k < 128; k++) {
      samples[i * 256 + 2 * k] = Math.round(left[k]! * 32_768)
      samples[i * 256 + 2 * k + 1] = Math.round(right[k]! * 32_768)
    }
  const bytes = new Uint8Array(samples.buffer)
  let text = ''
  for (let i = 0; i < bytes.length; i += 32_768) text += String.fromCharCode(...bytes.subarray(i, i + 32_768))
  return { rate: recorder.context.sampleRate, base64: btoa(text) }
}

/** Decodes the result of `readRecording`. Runs in the test. */
export function decodeRecording({ rate, base64 }: { rate: number; base64: string }): Recording {
  const bytes = Buffer.from(base64, 'base64')
  const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)
  const channel = (at: number) => Int16Array.from({ length: samples.length / 2 }, (_, i) => samples[2 * i + at]!)
  const [left, right] = [channel(0), channel(1)]
  const isSound = (_: number, i: number) => left[i] !== 0 || right[i] !== 0
  const [from, to] = [left.findIndex(isSound), left.findLastIndex(isSound) + 1]
  return { rate, left: left.slice(from, to), right: right.slice(from, to) }
}
