import type { ComponentChildren } from 'preact'

import type { Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'
import { Head } from './head.tsx'

/** The shape of the content that is loading: rows with pictures, covers, a table, fields, or the head of a page with a cover. */
export type LoadingKind = 'rows' | 'cards' | 'table' | 'fields' | 'head'

/** The number of bars in each row of a shape. */
const BARS = { rows: 3, cards: 0, table: 3, fields: 2 }

/** Placeholders while data loads, with the size of the content, so that nothing moves. */
export const Loading = ({ rows = 3, kind = 'rows' }: { rows?: number; kind?: LoadingKind }) => (
  <div class={`loading ${kind}`} role="status">
    <span class="visually-hidden">{t('Loading …')}</span>
    {kind === 'head' ? (
      <>
        <span class="shape" />
        <div>{bars(2)}</div>
      </>
    ) : (
      Array.from({ length: rows }, (_, i) =>
        BARS[kind] ? <div key={i}>{bars(BARS[kind])}</div> : <div key={i} class="shape" />,
      )
    )}
  </div>
)

const bars = (count: number) => Array.from({ length: count }, (_, i) => <span key={i} class="shape" />)

/** An empty state with an action. */
export const Empty = ({
  title,
  children,
  action,
}: {
  title: string
  children: ComponentChildren
  action?: ComponentChildren
}) => (
  <div class="empty">
    <h2>{title}</h2>
    <p>{children}</p>
    {action && <div class="actions">{action}</div>}
  </div>
)

interface ProblemProperties {
  failure: Pick<Failure, 'message' | 'errors'> & { status?: number }
  retry?: () => unknown
}

function textOf(failure: ProblemProperties['failure']): string {
  if (failure.status === 404) return t('This does not exist, or no longer exists.')
  return failure.status === 429
    ? t('There are too many requests. This is tried again in a few seconds.')
    : explain(failure)
}

/** An error, with a button to try again if that may help. */
export const Problem = ({ failure, retry }: ProblemProperties) => (
  <div class="problem" role="alert">
    <p>{textOf(failure)}</p>
    {retry && failure.status !== 404 && (
      <Button small onClick={retry}>
        {t('Try again')}
      </Button>
    )}
  </div>
)

interface NotLoadedProperties {
  problem: Failure | undefined
  reload: () => unknown
  /** The title of the page, as far as it is known before its data. */
  title?: string
  /** The shape of the page. */
  children?: ComponentChildren
}

/** Shown instead of a page whose data is loading or could not be loaded. Each has a title, which screen readers look for. */
export const NotLoaded = ({ problem, reload, title, children = <Loading rows={5} /> }: NotLoadedProperties) =>
  problem ? (
    <>
      <Head title={problem.status === 404 ? t('Not found') : t('Not loaded')} />
      <Problem failure={problem} retry={reload} />
      {problem.status === 404 && <a href={href('')}>{t('Go to the start page')}</a>}
    </>
  ) : (
    <>
      {title ? <Head title={title} /> : <h1 class="visually-hidden">{t('Loading …')}</h1>}
      {children}
    </>
  )

/** Shown instead of a page with a cover. */
export const ThingNotLoaded = (properties: Pick<NotLoadedProperties, 'problem' | 'reload'>) => (
  <NotLoaded {...properties}>
    <Loading kind="head" />
    <Loading rows={6} />
  </NotLoaded>
)

/** Shown above a page whose data could not be loaded again, so that it may be outdated. */
export const NotRenewed = ({ problem, reload }: { problem: Failure | undefined; reload: () => unknown }) =>
  problem && <Problem failure={problem} retry={reload} />

/** The message of a form. The element always exists, because screen readers only announce changes of existing elements. */
export const Message = ({ children }: { children?: ComponentChildren }) => (
  <p class="error" role="alert">
    {children}
  </p>
)
