interface Properties {
  label: string
  /** The value as text. */
  value: string
  note: string
  /** The positions of the value and of the reference on the scale, 0–1. */
  at: number
  reference: number
  /** The label of the reference, such as `−14`. */
  referenceText: string
  isBad?: boolean
}

const within = (fraction: number) => `${Math.min(1, Math.max(0, fraction)) * 100}%`

/** A value on a scale with a reference. */
export const Scale = ({ label, value, note, at, reference, referenceText, isBad = false }: Properties) => (
  <div class={isBad ? 'scale bad' : 'scale'}>
    <dt>{label}</dt>
    <dd>
      <strong>{value}</strong>
      <span class="scale-line" dir="ltr" aria-hidden="true">
        <i class="scale-value" style={{ left: within(at) }} />
        <i class="scale-reference" style={{ left: within(reference) }}>
          <span>{referenceText}</span>
        </i>
      </span>
      <span class="soft">{note}</span>
    </dd>
  </div>
)
