import { describe, expect, test } from 'vitest'

import type { Failure } from '../../src/client/index.ts'
import {
  afterEnded,
  afterFailure,
  afterCheck,
  afterMediaError,
  afterRefresh,
  isOutage,
  isSkipped,
  isProgress,
  lifetime,
  checkDelay,
  mayGetBetter,
  onPlay,
  refreshDelay,
  refreshMargin,
} from '../../src/client/playback/policy.ts'
import { NO_ATTEMPTS, type PlaybackOptions, type PlayView, type TimedView } from '../../src/client/playback/state.ts'

/** Decisions of the engine: after an error response, at the end of a track, and when a URL or a file fails. */

const failure = (status: number, code: Failure['code'] = 'network'): Failure => ({
  ok: false,
  message: '',
  status,
  code,
})

describe('an error response of the service', () => {
  const next = (status: number, code?: Failure['code'], polls = 0) => afterFailure(failure(status, code), polls)

  test('is treated as a lost connection if a retry may help', () => {
    for (const [status, code] of [
      [0, 'network'],
      [408, 'network'],
      [429, 'rate_limited'],
      [503, 'internal'],
      [409, 'request_in_flight'],
    ] as const)
      expect(next(status, code)).toEqual({ status: 'offline', delay: 2000 })
  })
  test('is a failure if a retry cannot help: a proxy’s 403 or 404, or an unknown track', () => {
    expect([next(403), next(404), next(404, 'not_found')]).toEqual(
      Array.from({ length: 3 }, () => ({ status: 'failed' })),
    )
  })
  test('ends the session if its status is 410, and waits for processing if it is 409', () => {
    expect(next(410, 'session_expired')).toEqual({ status: 'expired' })
    expect(next(409, 'track_not_ready')).toEqual({ status: 'processing', delay: 2000 })
  })
  test('is retried with growing delays', () => {
    const delays = [0, 1, 2, 50].map((polls) => next(0, 'network', polls).delay)
    expect(delays).toEqual([2000, 3000, 4500, 30_000])
  })
  test('skips a track only if that track cannot be played', () => {
    const codes = ['track_not_ready', 'not_found', 'session_expired', 'network'] as const
    expect(codes.map((code) => isSkipped(failure(0, code)))).toEqual([true, true, false, false])
  })
})

describe('a file that fails, for example with 403', () => {
  const fail = (failures: number, isFaulty: boolean) => {
    let attempts = NO_ATTEMPTS
    return Array.from({ length: failures }, () => (attempts = afterMediaError(attempts, 10, isFaulty)).skipped)
  }
  test('is retried with a fresh URL first, then replaced by the next file', () =>
    expect(fail(4, true)).toEqual([0, 1, 2, 3]))
  test('gets one more attempt if storage still has it', () => expect(fail(5, false)).toEqual([0, 0, 1, 1, 2]))
  test('gets the full number of attempts again if playback advanced between two failures', () => {
    const afterOne = afterMediaError(NO_ATTEMPTS, 10, true)
    expect([isProgress(NO_ATTEMPTS, 12), isProgress(afterOne, 10.9), isProgress(afterOne, 12)]).toEqual([
      false,
      false,
      true,
    ])
  })
})

describe('the response of storage to a probe of a failed file', () => {
  test('counts as an outage if the error may be temporary; a missing response does so only for about a minute', () => {
    expect([503, 500, 429, 408, 0].map((status) => isOutage(failure(status), 6))).toEqual(Array(5).fill(true))
    expect([503, 0].map((status) => isOutage(failure(status), 7))).toEqual([true, false])
    expect([403, 404, 416].some((status) => isOutage(failure(status), 0))).toBe(false)
  })
  test('sets the delay until the next probe, up to a minute', () => {
    const delays = [0, 1000, 20_000, 86_400_000].map((wait) => afterFailure({ ...failure(503), wait }, 0))
    expect(delays.map(({ delay }) => delay)).toEqual([2000, 2000, 20_000, 60_000])
  })
})

describe('play', () => {
  test('waits while loading, reloads after an error or the last track, and otherwise starts', () => {
    expect([onPlay('loading', true), onPlay('processing', false)]).toEqual(['wait', 'wait'])
    for (const status of ['offline', 'expired', 'failed', 'empty'] as const)
      expect(onPlay(status, false), status).toBe('reload')
    expect([onPlay('ready', false), onPlay('ready', true)]).toEqual(['start', 'reload'])
  })
})

describe('the end of a track', () => {
  const options = (loop: PlaybackOptions['loop']) => ({ loop }) as PlaybackOptions
  const at = (index: number, sleep: 'track' | null = null) => ({ index, order: [0, 1, 2], sleep, clip: null })

  test('is followed by the next track, the first one, the same one or none', () => {
    expect(afterEnded(at(0), options('none'))).toEqual({ next: 'play', index: 1 })
    expect(afterEnded(at(2), options('none'))).toEqual({ next: 'stop' })
    expect(afterEnded(at(2), options('all'))).toEqual({ next: 'play', index: 0 })
    expect(afterEnded(at(1), options('one'))).toEqual({ next: 'play', index: 1 })
  })
  test('stops playback if the sleep timer is set to the end of the track', () =>
    expect(afterEnded(at(0, 'track'), options('none'))).toEqual({ next: 'wait', index: 1 }))
})

describe('the lifetime of a URL', () => {
  const view = (url: string) => ({ variants: [{ url }], play_session: { expires_at: '2026-01-01T00:01:00.000Z' } })
  test('is read from its query and may have partly elapsed; without it, the lifetime of the session applies', () => {
    expect(lifetime(view('https://r2/a?X-Amz-Expires=60'))).toBe(36_000)
    expect(lifetime(view('https://cdn/a'), Date.parse('2026-01-01T00:00:00Z'))).toBe(60_000)
  })
  test('ends early by a margin for the replacement: a fifth of the lifetime, but at most a minute', () => {
    expect([refreshMargin(60_000), refreshMargin(3_600_000)]).toEqual([12_000, 60_000])
    const loaded = { trackId: 'a', variant: 'v', url: 'u', until: 100_000 }
    expect([refreshDelay(loaded, 0), refreshDelay(loaded, 99_900)]).toEqual([80_000, 1000])
    // A timer that is longer would end at once.
    expect(refreshDelay({ ...loaded, until: Date.parse('9999-12-31') }, 0)).toBe(2 ** 31 - 1)
  })
})

const loaded = { trackId: 'a', variant: 'aac', url: 'old', until: 60_000 }
const answer = (until: number, names = ['aac'], is_preliminary = false): TimedView & { ok: true } => ({
  ok: true,
  until,
  view: {
    track: { is_preliminary },
    variants: names.map((index) => ({ path: '', url: `new-${index}`, variant: { index } })),
  } as PlayView,
})

describe('a fresh play view during playback', () => {
  const situation = { isSingle: false, isComplete: false, now: 50_000 }
  const fresh = { ...loaded, url: 'new-aac', until: 120_000 }

  test('provides the URL that the other element continues with', () =>
    expect(afterRefresh(loaded, answer(120_000), situation)).toEqual({ next: 'hand-over', file: fresh }))
  test('is not needed when the file is completely loaded or only one element may play', () => {
    expect(afterRefresh(loaded, answer(120_000), { ...situation, isComplete: true })).toEqual({ next: 'keep' })
    expect(afterRefresh(loaded, answer(120_000), { ...situation, isSingle: true })).toEqual({ next: 'keep' })
  })
  test('is requested again after its expiry if its URL lasts no longer than the old one because the session ends', () =>
    expect(afterRefresh(loaded, answer(61_000), situation)).toEqual({ next: 'ask-again', delay: 12_000 }))
  test('is retried after a failure unless the session has ended', () => {
    expect(afterRefresh(loaded, failure(503), situation)).toEqual({ next: 'ask-again', delay: 5000 })
    expect(afterRefresh(loaded, failure(410, 'session_expired'), situation)).toEqual({ next: 'expire' })
  })
  test('is requested again if it lacks the current file', () =>
    expect(afterRefresh(loaded, answer(120_000, []), situation)).toEqual({ next: 'ask-again', delay: 5000 }))
  test('is not requested again if the track was removed', () =>
    expect(afterRefresh(loaded, failure(404, 'not_found'), situation)).toEqual({ next: 'keep' }))
})

describe('a preliminary file', () => {
  const early = { ...loaded, variant: 'early' }
  const best = { url: 'new-aac', variant: { index: 'aac' } }

  test('is checked again while its track has no final file or a better file could replace it', () => {
    expect([mayGetBetter(true, loaded, true), mayGetBetter(false, early, false)]).toEqual([true, true])
    expect([mayGetBetter(false, early, true), mayGetBetter(false, loaded, false)]).toEqual([false, false])
    expect([0, 1, 9].map(checkDelay)).toEqual([10_000, 15_000, 30_000])
  })
  test('is kept until the final file exists', () => {
    expect(afterCheck(early, answer(1, ['early'], true), undefined, true)).toEqual({ next: 'ask-again' })
    expect(afterCheck(early, failure(503), undefined, true)).toEqual({ next: 'ask-again' })
    expect(afterCheck(early, failure(410, 'session_expired'), undefined, true)).toEqual({ next: 'expire' })
  })
  test('is replaced without a gap while playing, and by reloading while paused', () => {
    const file = { trackId: 'a', variant: 'aac', url: 'new-aac', until: 9 }
    expect(afterCheck(early, answer(9), best, true)).toEqual({ next: 'hand-over', file })
    expect(afterCheck(early, answer(9), best, false)).toEqual({ next: 'load' })
    expect(afterCheck(early, answer(9), undefined, true)).toEqual({ next: 'load' })
  })
  test('continues to play once it has become final, and its levels are shown', () => {
    const signed = (signature: number) => `https://media.invalid/a/aac.m4a?X-Amz-Signature=${signature}`
    const final = { ...best, url: signed(2) }
    expect(afterCheck({ ...loaded, url: signed(1) }, answer(9), final, true)).toEqual({ next: 'show' })
  })
  test('is replaced by a file of the same variant after the audio of the track was replaced', () => {
    const file = { ...loaded, url: 'new-aac', until: 9 }
    expect(afterCheck(loaded, answer(9), best, true)).toEqual({ next: 'hand-over', file })
    expect(afterCheck(loaded, answer(9), best, false)).toEqual({ next: 'load' })
  })
})
