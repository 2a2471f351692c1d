import { median } from '../statistics.ts'
import type { Run } from './contestant.ts'
import type { Costs } from './sequence.ts'

/** One run of each, one after the other; `sizes` in bytes of each output. */
export type Round = { service: Run; sequence: Run; costs: Costs; sizes: Record<string, number> }

export type Result = ReturnType<typeof summarise>

/** The medians of all rounds; ratios are made within a round, where the machine was in the same mood. */
export function summarise(minutes: number, rounds: Round[], cores: number) {
  const of = (figure: (round: Round) => number) => median(rounds.map(figure))
  const run = (pick: (round: Round) => Run) => ({
    wall: of((round) => pick(round).wall),
    cpu: of((round) => pick(round).cpu),
    memory: Math.max(...rounds.map((round) => pick(round).memory)),
    ffmpeg_memory: Math.max(...rounds.map((round) => pick(round).childMemory)),
    disk: Math.max(...rounds.map((round) => pick(round).disk)),
  })
  const variants = Object.keys(rounds[0]!.costs.variants)
  return {
    minutes,
    service: run((round) => round.service),
    sequence: run((round) => round.sequence),
    limit: of(({ costs }) => limit(costs, cores)),
    /** How many times faster than the sequence. */
    speedup: of(({ service, sequence }) => sequence.wall / service.wall),
    /** How many times slower than the limit. */
    over_limit: of(({ service, costs }) => service.wall / limit(costs, cores)),
    /** Parts of the machine that other programs took while the service ran, 0–1. */
    noise: of(({ service }) => service.others / (service.wall * cores)),
    /** CPU seconds of one process alone. */
    costs: {
      variants: Object.fromEntries(variants.map((index) => [index, of(({ costs }) => costs.variants[index]!)])),
      decoding: of(({ costs }) => costs.decoding),
    },
    sizes: rounds[0]!.sizes,
    rounds,
  }
}

/**
 * About the least seconds that this work can take on so many cores: all of it spread evenly, or its longest piece, whichever is more.
 * Every process alone also decodes, which has to be done only once. Download and upload are left out.
 */
export function limit({ variants, decoding }: Costs, cores: number): number {
  const alone = Object.values(variants)
  const total = alone.reduce((sum, cpu) => sum + Math.max(0, cpu - decoding), decoding)
  return Math.max(total / cores, ...alone)
}
