import autocannon from 'autocannon'

import { threadSeconds } from '../process.ts'
import { interval, median } from '../statistics.ts'
import type { Workerd } from './workerd.ts'

/** Sends requests in rounds. Every target has one turn per round, in alternating order. 16 connections are enough to keep workerd busy. */

const CONNECTIONS = 16

export type Target = {
  name: string
  /** A separate process, whose socket `0` receives the requests. It is stopped after the rounds. */
  workerd: Workerd
  /** One path that is requested every time, or a list of paths that are each requested once. */
  path: string | string[]
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** Runs before each turn of this target. */
  prepare?: (workerd: Workerd) => Promise<void> | undefined
}

/** Results of one turn: CPU seconds per request, and requests per second. */
type Turn = { cpu: number; rate: number }

/**
 * Runs the rounds. Returns a function that returns the median figures of a target. They are relative to those of the first target in the
 * same round.
 */
export async function runRounds(targets: Target[], rounds: number, seconds: number, say: (text: string) => void) {
  const runners: Awaited<ReturnType<typeof warmUp>>[] = []
  for (const target of targets) runners.push(await warmUp(target, rounds, seconds))
  for (let round = 0; round < rounds; round++) {
    for (const { take } of round % 2 === 0 ? runners : runners.toReversed()) await take()
    const costs = runners.map(({ name, turns }) => `${name} ${(turns.at(-1)!.cpu * 1e6).toFixed(0)}`)
    say(`round ${round + 1} of ${rounds}, CPU µs a request: ${costs.join(', ')}`)
  }
  await Promise.all(targets.map(({ workerd }) => workerd.stop()))
  return (name: string) => {
    const ownTurns = runners.find((runner) => runner.name === name)!.turns
    const ratio = (figure: keyof Turn) => {
      const ratios = ownTurns.map((turn, round) => turn[figure] / runners[0]!.turns[round]![figure])
      return { value: median(ratios), interval: interval(ratios) }
    }
    return { cpu: ratio('cpu'), rate: ratio('rate'), milliseconds: median(ownTurns.map(({ cpu }) => cpu * 1000)) }
  }
}

export type Ratio = { value: number; interval: [low: number, high: number] }

/** Number of requests before the measurement, so that the code of every target is fully compiled. */
const WARM_UP = 400

/** Warms up a target and measures how many requests it answers in a turn. */
async function warmUp(target: Target, rounds: number, seconds: number) {
  const { path } = target
  let requested = 0
  const next = Array.isArray(path) ? () => path[requested++]! : undefined
  const maxRequests = Array.isArray(path) ? Math.floor((path.length - 2 * WARM_UP) / rounds) : Infinity
  const cold = await turn(target, WARM_UP / 2, next)
  const warm = await turn(
    target,
    Array.isArray(path) ? WARM_UP : Math.max(WARM_UP, Math.ceil(cold.rate * seconds)),
    next,
  )
  const amount = Math.max(CONNECTIONS, Math.ceil(Math.min(maxRequests, warm.rate * seconds)))
  const turns: Turn[] = []
  const take = async () => turns.push(await turn(target, amount, next))
  return { name: target.name, turns, take }
}

async function turn(target: Target, amount: number, next: (() => string) | undefined): Promise<Turn> {
  const { name, workerd, path, method = 'GET', headers = {}, body, prepare } = target
  const { pid } = workerd
  const url = workerd.url('0')
  await prepare?.(workerd)
  const before = { cpu: threadSeconds(pid), at: performance.now() }
  let [answers, last] = [0, before.at]
  const options = {
    url: next ? url : `${url}${String(path)}`,
    connections: CONNECTIONS,
    amount,
    method,
    headers,
    ...(body && { body }),
    ...(next && { requests: [{ setupRequest: (request: autocannon.Request) => ({ ...request, path: next() }) }] }),
  }
  const { non2xx, errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(options, (error, result) => (error ? reject(error as Error) : resolve(result)))
    instance.on('response', () => {
      answers++
      last = performance.now()
    })
  })
  if (non2xx + errors > 0) throw new Error(`${name}: ${non2xx} failed responses, ${errors} errors`)
  const cpu = threadSeconds(pid) - before.cpu
  return { cpu: cpu / answers, rate: answers / ((last - before.at) / 1000) }
}
