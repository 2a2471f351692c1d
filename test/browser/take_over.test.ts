import { beforeEach, expect, test, vi } from 'vitest'

import { takeOver } from '../../src/client/playback/take_over.ts'
import { FakeAudio } from './fake_audio.ts'

/** The handover between two elements that play the same audio, with fake media elements. */

beforeEach(() => void vi.useFakeTimers())

/** Hands over between two elements. `late`: seconds for which the first one plays on while the second one starts. */
async function handOver(late: number) {
  const [now, next] = [new FakeAudio(), new FakeAudio()]
  now.src = 'https://r2/old'
  next.src = 'https://r2/new'
  await vi.advanceTimersByTimeAsync(0)
  await now.play()
  next.play = () => {
    next.paused = false
    now.advance(late)
    return Promise.resolve()
  }
  const result = takeOver(now as never, next as never, 1, () => true)
  await vi.advanceTimersByTimeAsync(900)
  now.advance(0.97)
  await vi.advanceTimersByTimeAsync(100)
  return { isDone: await result, now, next }
}

test('the second element continues where the first one is', async () => {
  const { isDone, next } = await handOver(0.03)
  expect([isDone, next.paused, next.currentTime]).toEqual([true, false, 1])
})
test('the first element keeps playing if the second one starts late', async () => {
  const { isDone, now, next } = await handOver(8)
  expect([isDone, now.paused, next.paused]).toEqual([false, false, true])
})
