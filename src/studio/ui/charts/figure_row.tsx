import type { ComponentChildren } from 'preact'

import { Sparkline } from './sparkline.tsx'

interface Properties {
  term: string
  value: string
  /** The exact value, shown when the pointer is on the rounded one. */
  exact?: string
  note?: ComponentChildren
  /** The numbers of the last days. */
  line?: readonly number[]
  /** The page with more about it. */
  href?: string
  /** A drawing instead of the line. */
  children?: ComponentChildren
}

/** A row of large figures. */
export const FigureRow = ({ children }: { children: ComponentChildren }) => <dl class="figure-row card">{children}</dl>

/** A large figure with its name, and its history as a small line. */
export const Figure = ({ term, value, exact, note, line, href, children }: Properties) => (
  <div>
    <dt class="metric-name">{href ? <a href={href}>{term}</a> : term}</dt>
    <dd class="metric">
      <strong title={exact}>{value}</strong>
      {note && <span class="metric-note">{note}</span>}
      {line && <Sparkline values={line} />}
      {children}
    </dd>
  </div>
)
