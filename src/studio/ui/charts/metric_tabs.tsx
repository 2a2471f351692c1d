import type { ComponentChildren } from 'preact'

import { TabList } from '../controls/tab_list.tsx'
import { Difference } from './difference.tsx'
import type { Metric } from './metric.ts'
import { Sparkline } from './sparkline.tsx'

interface Properties<T extends string> {
  label: string
  metrics: readonly Metric<T>[]
  current: T
  onChange: (name: T) => void
  /** The chart of the current metric. */
  children: ComponentChildren
}

/** Large numbers with their change and their line, each of which is the tab of its chart. */
export const MetricTabs = <T extends string>({ label, metrics, current, onChange, children }: Properties<T>) => (
  <div class="metrics card">
    <TabList
      label={label}
      current={current}
      onChange={onChange}
      tabs={metrics.map((metric) => [metric.name, <Tile key={metric.name} {...metric} />] as const)}
    >
      {children}
    </TabList>
  </div>
)

const Tile = <T extends string>({ label, value, exact, note, compared, line }: Metric<T>) => (
  <span class="metric">
    <span class="metric-name">{label}</span>
    <span class="metric-value">
      <strong title={exact}>{value}</strong>
      {note && <span class="metric-note">{note}</span>}
    </span>
    <span class="metric-note">{compared ? <Difference of={compared} /> : '\u00a0'}</span>
    <Sparkline values={line} />
  </span>
)
