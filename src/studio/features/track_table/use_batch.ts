import { useEffect, useRef, useState } from 'preact/hooks'

import type { TrackChange } from '../../../contract/track_batch.ts'
import { t, text, tn } from '../../base/text.ts'
import { changesBack, inRequests, type Outcome, type Progress, runBatch } from '../../data/batch.ts'
import { useClient } from '../../data/connection.ts'
import { invalidate } from '../../data/query.ts'
import { announce } from '../../ui/page/announce.ts'

type Action = TrackChange['action']
type Counted = { one: string; other: string }

/** The texts while a batch runs, and at its end. */
const TEXTS: Record<Action, { runs: string; done: Counted }> = {
  delete: {
    runs: text('Deleting: {done} of {total}'),
    done: { one: '{n} track deleted', other: '{n} tracks deleted' },
  },
  restore: {
    runs: text('Restoring: {done} of {total}'),
    done: { one: '{n} track restored', other: '{n} tracks restored' },
  },
  move: {
    runs: text('Moving: {done} of {total}'),
    done: { one: '{n} track moved', other: '{n} tracks moved' },
  },
  reprocess: {
    runs: text('Starting: {done} of {total}'),
    done: { one: '{n} track is processed again', other: '{n} tracks are processed again' },
  },
  update: {
    runs: text('Changing: {done} of {total}'),
    done: { one: '{n} track changed', other: '{n} tracks changed' },
  },
}

export interface Running extends Progress {
  action: Action
  isOver: boolean
}

/** Returns the text about a batch that runs or has ended. */
export function batchText({ action, done, refused, total, waits, isOver }: Running): string {
  if (waits === 'offline') return t('No connection. This goes on as soon as there is one.')
  if (waits === 'busy') return t('The service is busy. This goes on in a few seconds.')
  if (!isOver) return t(TEXTS[action].runs, { done: done + refused.length, total })
  return tn(TEXTS[action].done, done)
}

/** Runs the batches of a table: one at a time, with progress, and an offer to undo. `onChange` is called after each batch. */
export function useBatch(onChange: (outcome: Outcome) => void) {
  const client = useClient()
  const [running, setRunning] = useState<Running | null>(null)
  const controller = useRef(new AbortController())
  const latest = useRef(onChange)
  latest.current = onChange
  const isOver = running === null || running.isOver
  useEffect(() => {
    if (isOver) return
    const ask = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isOver])

  async function run(action: Action, groups: readonly TrackChange[][]): Promise<Outcome> {
    controller.current = new AbortController()
    const { signal } = controller.current
    const show = (progress: Progress) => setRunning({ ...progress, action, isOver: false })
    // From the first request on, no other action can be started.
    show({ total: groups.flat().length, done: 0, refused: [], waits: null })
    const outcome = await runBatch(client, groups, { signal, onProgress: show })
    // The refused changes stay visible, with their reasons.
    setRunning(outcome.refused.length > 0 ? { ...outcome, action, isOver: true } : null)
    const back = changesBack(outcome)
    const undo = back.length > 0 ? { label: t('Undo'), run: () => run(back[0]![0]!.action, back) } : null
    if (outcome.done > 0) announce(tn(TEXTS[action].done, outcome.done), action === 'restore' ? null : undo)
    // The page Trash may have been opened before the responses.
    if (action === 'delete' || action === 'restore') invalidate('/v1/trash')
    latest.current(outcome)
    return outcome
  }
  return {
    running,
    run: (changes: readonly TrackChange[]) => run(changes[0]!.action, inRequests(changes)),
    stop: () => controller.current.abort(),
    retry: () => {
      const changes = running?.refused.map(({ change }) => change) ?? []
      return changes.length > 0 ? run(changes[0]!.action, inRequests(changes)) : undefined
    },
    dismiss: () => setRunning(null),
  }
}
export type Batch = ReturnType<typeof useBatch>
