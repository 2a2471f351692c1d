/** Medians and their confidence intervals. */

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}

const RESAMPLES = 2000

/**
 * Returns the 95 % confidence interval of a median. It is computed by bootstrapping: from the medians of samples of the same size, drawn
 * with replacement.
 */
export function interval(values: number[]): [low: number, high: number] {
  const medians = Array.from({ length: RESAMPLES }, () =>
    median(values.map(() => values[Math.floor(Math.random() * values.length)]!)),
  ).toSorted((a, b) => a - b)
  return [medians[Math.floor(RESAMPLES * 0.025)]!, medians[Math.floor(RESAMPLES * 0.975)]!]
}
