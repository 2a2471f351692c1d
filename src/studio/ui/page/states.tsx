import type { ComponentChildren } from 'preact'

import type { Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'

/** Placeholders while data loads, with the size of the content, so that nothing moves. */
export const Loading = ({ rows = 3, kind = 'rows' }: { rows?: number; kind?: 'rows' | 'cards' }) => (
  <div class={`loading ${kind}`} role="status">
    <span class="visually-hidden">{t('Loading …')}</span>
    {Array.from({ length: rows }, (_, i) => (
      <div key={i} class="shape" />
    ))}
  </div>
)

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

/** Shown instead of a page whose data is loading or could not be loaded. */
export const NotLoaded = ({ problem, reload }: { problem: Failure | undefined; reload: () => unknown }) =>
  problem ? (
    <>
      <h1>{problem.status === 404 ? t('Not found') : t('Not loaded')}</h1>
      <Problem failure={problem} retry={reload} />
      {problem.status === 404 && <a href={href('')}>{t('Go to the start page')}</a>}
    </>
  ) : (
    <Loading rows={5} />
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
