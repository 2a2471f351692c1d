import { setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import type { ComparedStats } from '../../data/stats.ts'
import { chartOf, datesOf, METRICS, type MetricName, metricTab, NAMES, nameOfBefore } from '../../data/stats_charts.ts'
import { Legend, TimeChart } from '../../ui/charts/lazy_chart.tsx'
import { MetricTabs } from '../../ui/charts/metric_tabs.tsx'

/** The numbers of listening as tabs, and the chart of one of them. The choice is in the address (`show`). */
export const MetricCard = ({ stats, current }: { stats: ComparedStats; current: MetricName }) => (
  <MetricTabs
    label={t('Numbers')}
    current={current}
    onChange={(show) => setQuery({ show: show === 'plays' ? '' : show })}
    metrics={METRICS.map((name) => metricTab(name, stats))}
  >
    <div class="chart-head">
      <p class="soft">{t(NAMES[current][1])}</p>
      <Legend label={datesOf(stats)} before={stats.before ? nameOfBefore(stats) : undefined} />
    </div>
    <TimeChart key={current} {...chartOf(current, stats)} />
  </MetricTabs>
)
