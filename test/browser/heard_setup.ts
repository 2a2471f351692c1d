import { beforeEach } from 'vitest'

import { Heard, type Listen, type Motion } from '../../src/client/playback/heard.ts'

/** A simulated player and clock for the measurement of the seconds that were heard. */

export interface Body {
  visit: string
  sequence: number
  age: number
  first: number
  source?: string
  listens: Partial<Listen>[]
}

export const RUNNING: Motion = { rate: 1, isMuted: false, isRunning: true }
export const STOPPED: Motion = { ...RUNNING, isRunning: false }
export let heard: Heard
/** The clock, and the position of the simulated player, in seconds. */
export let now: number
export let position: number
let token: string

beforeEach(() => {
  now = 1000
  position = 0
  token = 'first'
  heard = new Heard(() => token, 'example.com')
  heard.start(now, 'a', STOPPED)
})

/** Plays for some seconds of the clock, with an event every quarter of a second. */
export function play(seconds: number, motion: Partial<Motion> = {}) {
  const state = { ...RUNNING, ...motion }
  heard.at(now, position, state)
  for (let left = seconds; left > 1e-9; left -= 0.25) {
    now += Math.min(left, 0.25)
    position += Math.min(left, 0.25) * state.rate
    heard.at(now, position, state)
  }
}
export function pause(seconds: number) {
  heard.at(now, position, STOPPED)
  now += seconds
  heard.at(now, position, STOPPED)
}
/** Seeks. The event comes `after` seconds after the last one. */
export function seek(to: number, after = 0) {
  now += after
  heard.leave(now)
  position = to
  heard.at(now, position, STOPPED)
}
export function end() {
  heard.end(now, position)
  position = 0
}
export function track(id: string, at?: number) {
  heard.start(now, id, at === undefined ? STOPPED : RUNNING, at)
  position = at ?? 0
}
export const read = (report = heard.report(now)!) => JSON.parse(report.body) as Body
export const listens = () => read().listens
/** Sends a report that the service acknowledges. */
export function acknowledge() {
  const report = heard.report(now)!
  report.acknowledged()
  return read(report)
}

/** Lets the clock advance, and then moves the player. */
export function move(seconds: number, to: number) {
  now += seconds
  position = to
}
/** Gives the session another token. */
export const renew = () => (token = 'second')
