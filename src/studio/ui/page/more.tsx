import type { ComponentChildren } from 'preact'

import type { Failure } from '../../base/api.ts'
import { t } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'
import { Loading, Problem } from './states.tsx'

interface Properties {
  list: {
    entries: unknown[]
    loading: boolean
    problem: Failure | undefined
    hasMore: boolean
    more: () => unknown
    reload: () => unknown
  }
  /** Shown if there are no entries. */
  empty: ComponentChildren
  children: ComponentChildren
}

/** A list with a button that reads the next page. */
export const More = ({ list, empty, children }: Properties) => (
  <>
    {list.problem && <Problem failure={list.problem} retry={list.reload} />}
    {list.loading && <Loading rows={5} />}
    {list.entries.length > 0 && children}
    {list.entries.length === 0 && !list.loading && !list.problem && !list.hasMore && empty}
    {list.hasMore && (
      <div class="actions">
        <Button onClick={list.more}>{t('Show earlier')}</Button>
      </div>
    )}
  </>
)
