import type { ComponentChildren } from 'preact'

import { lazyPage } from '../page/lazy_page.tsx'
import type { ChartProperties } from './series.ts'

/** The chart, whose module is loaded when the first chart is shown, because the library of its axes is only needed there. */
export const TimeChart = lazyPage<ChartProperties>(
  async () => (await import('./time_chart.tsx')).default,
  <div class="chart-wait" aria-busy="true" />,
)

interface LegendProperties {
  label: string
  /** The period before, if it is drawn. */
  before?: string | undefined
  children?: ComponentChildren
}

/** The names of the lines of a chart. */
export const Legend = ({ label, before, children }: LegendProperties) => (
  <p class="chart-legend">
    <span>
      <i class="swatch" />
      {label}
    </span>
    {before && (
      <span>
        <i class="swatch before" />
        {before}
      </span>
    )}
    {children}
  </p>
)
