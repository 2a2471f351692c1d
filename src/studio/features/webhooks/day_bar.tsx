import { HOUR } from '../../../contract/time.ts'
import type { WebhookEndpoint } from '../../base/api.ts'
import { dayText } from './webhook.ts'

const KINDS = ['delivered', 'pending', 'failed'] as const
const [STEP, WIDTH, HEIGHT] = [10, 8, 32]

interface Properties {
  day: WebhookEndpoint['day']
  /** The number of endpoints in the same response. */
  endpointCount?: number
}

/** A chart of the last 24 hours of an endpoint, with one column per hour: delivered events at the bottom, others above. */
export function DayBar({ day = [], endpointCount = 1 }: Properties) {
  const most = Math.max(1, ...day.map((hour) => hour.delivered + hour.pending + hour.failed))
  const first = Math.floor(Date.now() / HOUR) - 23
  return (
    <figure class="day">
      <svg viewBox={`0 0 ${24 * STEP} ${HEIGHT}`} aria-hidden="true" preserveAspectRatio="none">
        {Array.from({ length: 24 }, (_, at) => {
          const hour = day.find((one) => Math.floor(Date.parse(one.at) / HOUR) === first + at)
          let top = HEIGHT
          return [
            <rect key={at} class="none" x={at * STEP} y={HEIGHT - 2} width={WIDTH} height={2} />,
            ...KINDS.map((kind) => {
              // A single event among many remains visible.
              const height = hour?.[kind] ? Math.max(3, (hour[kind] / most) * HEIGHT) : 0
              top -= height
              return <rect key={kind} class={kind} x={at * STEP} y={Math.max(0, top)} width={WIDTH} height={height} />
            }),
          ]
        })}
      </svg>
      <figcaption class="soft">{dayText(day, endpointCount)}</figcaption>
    </figure>
  )
}
