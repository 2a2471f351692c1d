import { Heard, type Motion, type Report } from './heard.ts'
import type { EngineContext } from './loader.ts'

/**
 * Observes the audio elements of a playback, and reports to the service what was heard (docs/listening.md). Loaded after the first sound. Must
 * share no code with the player (docs/decisions/0038).
 */

const EVENTS = [
  'playing',
  'timeupdate',
  'pause',
  'waiting',
  'seeking',
  'seeked',
  'ratechange',
  'volumechange',
  'emptied',
  'error',
]

/**
 * Reports what the engine plays, from a position on where it was at a time of `performance.now()`. Does nothing while `isOn` returns false, or if
 * the browser sends `Sec-GPC`.
 */
export function reportHeard(core: EngineContext, position: number, since: number, isOn = () => true): void {
  if ((navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) return
  const { store, audio: pair, signal } = core
  const heard = new Heard(() => store.state.session?.heard_token ?? '', nameOfPage())
  const clock = startClock((seconds) => heard.sleep(seconds))
  const trackId = () => store.track()?.id ?? ''
  const send = (isLeaving = false) => {
    if (isLeaving) sendBeacons(core, heard, clock())
    else void sendReport(core, heard, clock())
  }
  /** Measures the time since the last event. */
  const measure = () => {
    if (!isOn()) return heard.forget()
    const { audio, delay } = pair
    const now = clock()
    const { playbackRate: rate } = audio
    if (audio.seeking || audio.readyState === 0) heard.leave(now, !audio.seeking)
    // The end of a track is measured at the event of the playback.
    if (!audio.ended && audio.readyState > 0)
      heard.at(now, Math.max(0, audio.currentTime - delay * rate), motionOf(audio))
  }
  const onPage = (isLeaving: boolean) => {
    measure()
    if (isLeaving) send(true)
  }

  clock()
  heard.start(since / 1000, trackId(), motionOf(pair.audio), position)
  measure()
  store.onEvent = (name) => {
    if (name === 'ended' && isOn()) heard.end(clock(), pair.audio.currentTime)
    if (name === 'trackchange') heard.start(clock(), trackId(), motionOf(pair.audio))
    if (name === 'pause') measure()
    if (heard.isDue(clock(), name === 'pause')) send()
  }
  for (const each of pair.both)
    for (const name of EVENTS)
      each.addEventListener(
        name,
        () => {
          if (each !== pair.audio) return
          measure()
          if (heard.isDue(clock(), false)) send()
        },
        { signal },
      )
  const { document } = globalThis
  document?.addEventListener('visibilitychange', () => onPage(document.visibilityState === 'hidden'), { signal })
  globalThis.addEventListener?.('pagehide', () => onPage(true), { signal })
  signal.addEventListener('abort', () => {
    measure()
    heard.leave(clock())
    send()
  })
}

const motionOf = (audio: HTMLAudioElement): Motion => ({
  rate: audio.playbackRate,
  isMuted: audio.muted || audio.volume === 0,
  isRunning: !audio.paused && !audio.seeking && !audio.ended && !audio.error && audio.readyState > 2,
})

const addressOf = ({ source }: EngineContext, { token }: Report) => new URL(`/v1/heard/${token}`, source.baseUrl).href

/** Sends a report and waits for the response. A report that fails is repaired by the next one. */
async function sendReport(core: EngineContext, heard: Heard, now: number): Promise<void> {
  const report = heard.report(now)
  if (!report) return
  const { body } = report
  const status = await fetch(addressOf(core, report), {
    method: 'POST',
    body,
    keepalive: true,
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  }).then(
    (response) => response.status,
    () => 0,
  )
  if (status >= 200 && status < 300) report.acknowledged()
  else if (status >= 400 && status < 500 && status !== 408 && status !== 429) report.refused()
  else report.failed()
}

/** Sends everything that is not reported, without a response, because the page may end. */
function sendBeacons(core: EngineContext, heard: Heard, now: number): void {
  let report = heard.report(now)
  while (report) {
    // Without a connection, the beacon is lost.
    if (!navigator.sendBeacon(addressOf(core, report), report.body) || !navigator.onLine) return report.failed()
    report.sent()
    report = report.rest(now)
  }
}

/**
 * Returns a clock in seconds that never goes back, and does not follow the time of day. `onSleep` is called with the seconds by which it falls
 * behind: the clock of some systems does not advance while they sleep.
 */
function startClock(onSleep: (seconds: number) => void): () => number {
  let offset = performance.timeOrigin
  return () => {
    const now = performance.now()
    const slept = Date.now() - now - offset
    if (slept > 1000) onSleep(slept / 1000)
    offset += slept
    return now / 1000
  }
}

/** Returns the host name of this page, or of the page around this frame. */
function nameOfPage(): string | undefined {
  try {
    const address =
      globalThis.parent === globalThis.self ? location.href : (location.ancestorOrigins?.[0] ?? document.referrer)
    return new URL(address).hostname.slice(0, 100) || undefined
  } catch {
    return undefined
  }
}
