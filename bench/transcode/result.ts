import { median } from '../statistics.ts'
import type { Run } from './contestant.ts'
import type { Costs } from './sequence.ts'

/** One run of each contestant. `sizes` contains the size of each output in bytes. */
export type Round = { service: Run; sequence: Run; costs: Costs; sizes: Record<string, number> }

export type Result = ReturnType<typeof summarize>

/** Computes the medians over all rounds. Ratios are computed within each round, because both runs of a round have the same load. */
export function summarize(minutes: number, rounds: Round[], cores: number) {
  const medianOf = (figure: (round: Round) => number) => median(rounds.map(figure))
  const run = (pick: (round: Round) => Run) => ({
    wall: medianOf((round) => pick(round).wall),
    cpu: medianOf((round) => pick(round).cpu),
    memory: Math.max(...rounds.map((round) => pick(round).memory)),
    ffmpeg_memory: Math.max(...rounds.map((round) => pick(round).childMemory)),
    disk: Math.max(...rounds.map((round) => pick(round).disk)),
  })
  const variants = Object.keys(rounds[0]!.costs.variants)
  return {
    minutes,
    service: run((round) => round.service),
    sequence: run((round) => round.sequence),
    limit: medianOf(({ costs }) => limit(costs, cores)),
    /** How many times as fast as the sequence the service is. */
    speedup: medianOf(({ service, sequence }) => sequence.wall / service.wall),
    /** The service's time divided by the theoretical minimum (`limit`). */
    over_limit: medianOf(({ service, costs }) => service.wall / limit(costs, cores)),
    /** Fraction of the machine that other programs used while the service ran, 0–1. */
    noise: medianOf(({ service }) => service.others / (service.wall * cores)),
    /** CPU seconds of each process of the sequence, which runs alone. */
    costs: {
      variants: Object.fromEntries(variants.map((index) => [index, medianOf(({ costs }) => costs.variants[index]!)])),
      decoding: medianOf(({ costs }) => costs.decoding),
    },
    sizes: rounds[0]!.sizes,
    rounds,
  }
}

/**
 * Returns the approximate minimum time of a job in seconds: the total work spread evenly over all cores, or the longest single encode,
 * whichever is longer. The processes that run alone all decode, but a job must decode only once. Download and upload are not included.
 */
export function limit({ variants, decoding }: Costs, cores: number): number {
  const alone = Object.values(variants)
  const total = alone.reduce((sum, cpu) => sum + Math.max(0, cpu - decoding), decoding)
  return Math.max(total / cores, ...alone)
}
