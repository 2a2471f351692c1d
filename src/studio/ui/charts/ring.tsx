/** The progress of something in a row, as a ring. `value` is 0–1. */
export const Ring = ({ value, label }: { value: number; label: string }) => (
  <span
    class="ring"
    role="progressbar"
    aria-label={label}
    aria-valuenow={Math.round(value * 100)}
    style={{ '--done': `${value * 360}deg` }}
  />
)
