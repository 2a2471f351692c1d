/** An audio element without a browser: it loads at once unless `refused` matches, and plays as the test advances time. */
export class FakeAudio extends EventTarget {
  /** Substrings of URLs that fail to load. */
  static refused: string[] = []
  /** While true, loads never complete. */
  static held = false
  /** The iOS rule: only the element started by a gesture may play. */
  static gestureOnly = false
  static started: FakeAudio | null = null
  static seconds = 100

  volume = 1
  muted = false
  playbackRate = 1
  defaultPlaybackRate = 1
  preload = ''
  paused = true
  ended = false
  error: { code: number } | null = null
  readyState = 0
  seeking = false
  /** The number of seconds that are buffered; by default the whole file. */
  loadedTo = FakeAudio.seconds
  #src: string | null = null
  #time = 0
  /** Start position applied after loading; `load` does not reset it (HTML, default playback start position). */
  #start = 0

  get duration() {
    return this.readyState > 0 ? FakeAudio.seconds : Number.NaN
  }
  get buffered() {
    return { length: this.readyState > 0 ? 1 : 0, start: () => 0, end: () => this.loadedTo }
  }
  get src() {
    return this.#src ?? ''
  }
  set src(url: string) {
    this.#src = url
    this.load()
  }
  get currentTime() {
    return this.#start || this.#time
  }
  set currentTime(seconds: number) {
    if (this.readyState === 0) this.#start = seconds
    else this.#seek(seconds)
  }

  hasAttribute() {
    return this.#src !== null
  }
  removeAttribute() {
    this.#src = null
  }
  canPlayType() {
    return 'probably'
  }
  load() {
    const url = this.#src
    this.#time = 0
    Object.assign(this, { readyState: 0, error: null, ended: false })
    this.#soon('emptied')
    if (url === null || FakeAudio.held) return
    queueMicrotask(() => {
      if (this.#src !== url) return
      if (FakeAudio.refused.some((part) => url.includes(part))) return this.fail()
      this.readyState = 4
      this.#time = this.#start
      this.#start = 0
      for (const name of ['durationchange', 'canplay', 'canplaythrough']) this.dispatchEvent(new Event(name))
    })
  }
  play() {
    if (FakeAudio.gestureOnly && (FakeAudio.started ??= this) !== this)
      return Promise.reject(new DOMException('', 'NotAllowedError'))
    this.paused = false
    this.#soon('playing')
    return Promise.resolve()
  }
  pause() {
    if (this.paused) return
    this.paused = true
    this.#soon('pause')
  }

  /** Continues playback for this many seconds, without an event. */
  pass(seconds: number) {
    if (!this.paused) this.#time = Math.min(FakeAudio.seconds, this.#time + seconds)
  }
  /** Continues playback for this many seconds. */
  advance(seconds: number) {
    this.#time = Math.min(FakeAudio.seconds, this.#time + seconds)
    this.dispatchEvent(new Event('timeupdate'))
    if (this.#time < FakeAudio.seconds) return
    Object.assign(this, { ended: true, paused: true })
    for (const name of ['pause', 'ended']) this.dispatchEvent(new Event(name))
  }
  /** Simulates a connection that delivers no more data. */
  stall() {
    this.readyState = 2
    this.dispatchEvent(new Event('waiting'))
  }
  /** Fails with a media error, by default `MEDIA_ERR_SRC_NOT_SUPPORTED`: browsers report it for a file that cannot be opened, and also for a 503. */
  fail(code = 4) {
    this.error = { code }
    this.dispatchEvent(new Event('error'))
  }

  #seek(seconds: number) {
    this.#time = seconds
    this.ended = false
    this.seeking = true
    this.#soon('seeking')
    queueMicrotask(() => (this.seeking = false))
    this.#soon('seeked')
    this.#soon('canplaythrough')
  }
  #soon(name: string) {
    queueMicrotask(() => this.dispatchEvent(new Event(name)))
  }
}
