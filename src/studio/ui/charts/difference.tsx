import { t, tn } from '../../base/text.ts'
import { changeText, type Compared, direction } from './metric.ts'

/** The change against the period before, in the color of its direction. */
export const Change = ({ of }: { of: Pick<Compared, 'now' | 'before'> }) => {
  const text = changeText(of)
  const [up, down] = [direction(of) > 0, direction(of) < 0]
  return <b class={`change${up ? ' up' : down ? ' down' : ''}`}>{text ?? (of.now > 0 ? t('new') : '±0')}</b>
}

/** The change against the period before as a line: `+12 % against the 30 days before`. There is none if nothing was counted in both. */
export const Difference = ({ of }: { of: Compared }) => {
  if (of.before === 0 && of.now === 0) return '\u00a0'
  return (
    <span class="difference">
      {of.before === 0 ? (
        tn({ one: '0 in the {n} day before', other: '0 in the {n} days before' }, of.days)
      ) : (
        <>
          <Change of={of} /> {tn({ one: 'against the {n} day before', other: 'against the {n} days before' }, of.days)}
        </>
      )}
    </span>
  )
}
