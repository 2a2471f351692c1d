import type { ComponentChildren } from 'preact'

/** Cards with a term and its value. */
export const Figures = ({ figures }: { figures: readonly (readonly [term: string, value: string])[] }) => (
  <dl class="figures">
    {figures.map(([term, value]) => (
      <div key={term} class="card">
        <dt class="soft">{term}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

/** A table whose columns are numbers, except for the first. */
export const NumberTable = ({ head, children }: { head: readonly string[]; children: ComponentChildren }) => (
  <div class="card table-box">
    <table class="stacked">
      <thead>
        <tr>
          {head.map((text, at) => (
            <th key={text} class={at > 0 ? 'number' : undefined}>
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

/** A cell of a `NumberTable`. A phone shows the label of the column in each cell. */
export const NumberCell = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <td class="number" data-label={label}>
    {children}
  </td>
)
