import type { ComponentChildren } from 'preact'

import { Sparkline } from './sparkline.tsx'

interface Properties {
  term: string
  value: string
  /** The exact value, shown when the pointer is on the rounded one. */
  exact?: string
  note?: string
  /** The numbers of the last days. */
  line?: readonly number[]
}

/** A row of large figures. */
export const FigureRow = ({ children }: { children: ComponentChildren }) => <dl class="figure-row">{children}</dl>

/** A large figure with its name, and its history as a small line. */
export const Figure = ({ term, value, exact, note, line }: Properties) => (
  <div>
    <dt class="soft">{term}</dt>
    <dd>
      <strong title={exact}>{value}</strong>
      {note && <span class="soft">{note}</span>}
      {line && <Sparkline values={line} />}
    </dd>
  </div>
)
