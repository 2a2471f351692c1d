import { t } from '../../base/text.ts'
import { type Series, valueText } from './series.ts'

interface Properties {
  label: string
  /** The name of the column of the spans. */
  head: string
  spans: readonly string[]
  series: readonly Series[]
}

/** The most rows of a table. Of more spans, some are left out. */
const ROWS = 100

/** The numbers of a chart as a table, which is closed at first. */
export const ChartTable = ({ label, head, spans, series }: Properties) => {
  const every = Math.ceil(spans.length / ROWS)
  return (
    <details class="chart-table">
      <summary>{t('Show as a table')}</summary>
      {/* A region that scrolls is reached by Tab. */}
      <div class="table-box" role="region" tabIndex={0} aria-label={label}>
        <table aria-label={label}>
          <thead>
            <tr>
              <th>{head}</th>
              {series.map((one) => (
                <th key={one.label} class="number">
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {spans.map(
              (span, at) =>
                at % every === 0 && (
                  <tr key={span}>
                    <th scope="row">{span}</th>
                    {series.map((one) => (
                      <td key={one.label} class="number">
                        {valueText(one, at)}
                      </td>
                    ))}
                  </tr>
                ),
            )}
          </tbody>
        </table>
      </div>
    </details>
  )
}
