import type { ComponentChildren } from 'preact'

import { goBack } from '../../base/route.ts'
import { Icon } from '../controls/icon.tsx'

export interface BackProperties {
  href: string
  label: string
}

/** A link to the page that contains this one. */
export const Back = ({ href, label }: BackProperties) => (
  <a class="back" href={href} onClick={goBack}>
    <Icon name="back" />
    <span dir="auto">{label}</span>
  </a>
)

interface HeadProperties {
  title: string
  /** The page that contains this one. */
  back?: BackProperties
  /** A sentence about the page, or the number of its entries. */
  note?: ComponentChildren
  /** The actions, of which at most one is a primary button. */
  children?: ComponentChildren
}

/** The head of a page without a cover. */
export const Head = ({ title, back, note, children }: HeadProperties) => (
  <div class="page-head">
    <div>
      {back && <Back {...back} />}
      <h1 dir="auto">{title}</h1>
      {note && <p class="soft">{note}</p>}
    </div>
    {children && <div class="actions">{children}</div>}
  </div>
)
