const HEIGHT = 32

/** A small line of numbers without axes; empty without numbers. Screen readers skip it, because the figure next to it has the current number. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const [least, most] = [Math.min(0, ...values), Math.max(...values)]
  const yOf = (value: number) =>
    least === most ? HEIGHT - 1 : HEIGHT - 1 - ((value - least) / (most - least)) * (HEIGHT - 2)
  const points = values.map((value, x) => `${x},${yOf(value).toFixed(1)}`).join(' ')
  const width = Math.max(1, values.length - 1)
  return (
    <svg class="sparkline" dir="ltr" viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {values.length > 0 && <polygon points={`0,${HEIGHT} ${points} ${width},${HEIGHT}`} />}
      <polyline points={points} />
    </svg>
  )
}
