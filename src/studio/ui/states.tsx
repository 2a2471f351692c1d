import type { ComponentChildren } from 'preact'

import type { Failure } from '../api.ts'
import { explain } from '../format.ts'
import { href } from '../route.ts'
import { Button } from './button.tsx'

/** Something is on its way: grey shapes of what will come, so that nothing jumps. */
export const Loading = ({ rows = 3, kind = 'rows' }: { rows?: number; kind?: 'rows' | 'cards' }) => (
  <div class={`loading ${kind}`} role="status">
    <span class="visually-hidden">Loading …</span>
    {Array.from({ length: rows }, (_, i) => (
      <div key={i} class="shape" />
    ))}
  </div>
)

/** There is nothing yet, and what to do about it. */
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

/** What went wrong, and another try where that may help. */
export const Problem = ({ failure, retry }: ProblemProperties) => (
  <div class="problem" role="alert">
    <p>{failure.status === 404 ? 'This does not exist, or no longer exists.' : explain(failure)}</p>
    {retry && failure.status !== 404 && (
      <Button small onClick={retry}>
        Try again
      </Button>
    )}
  </div>
)

/** In place of a page that has nothing to show: it is on its way, or could not be loaded. */
export const NotLoaded = ({ problem, reload }: { problem: Failure | undefined; reload: () => unknown }) =>
  problem ? (
    <>
      <h1>{problem.status === 404 ? 'Not found' : 'Not loaded'}</h1>
      <Problem failure={problem} retry={reload} />
      {problem.status === 404 && <a href={href('')}>Go to the start page</a>}
    </>
  ) : (
    <Loading rows={5} />
  )

/** Above a page whose answer may be out of date: loading it again failed. */
export const NotRenewed = ({ problem, reload }: { problem: Failure | undefined; reload: () => unknown }) =>
  problem && <Problem failure={problem} retry={reload} />

/** The place for the message of a form; there from the beginning, so that screen readers notice when it is filled. */
export const Message = ({ children }: { children?: ComponentChildren }) => (
  <p class="error" role="alert">
    {children}
  </p>
)
