import { useState } from 'preact/hooks'

import { MAX_BATCH } from '../../contract/facts.ts'
import type { TrackChange } from '../../contract/track_batch.ts'
import type { Client, Failure } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { forgetViews } from '../data/views.ts'
import { explain, nameOf } from '../format.ts'
import { t, tn } from '../text.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Cancel, Dialog, DISCARD } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import {
  changesOf,
  commonValue,
  type Editable,
  FIELD_NAMES,
  FIELDS,
  restoringChanges,
  type Typed,
} from './edit_changes.ts'

const CHANGED = { one: '{n} track changed', other: '{n} tracks changed' }
/** The number of failures that are listed. */
const LISTED = 20

interface Refused {
  track_id: string
  message: string
}

/** Sends changes, and resolves to those that were refused. After a failed request, the remaining changes are refused as well. */
async function send(
  client: Client,
  changes: readonly TrackChange[],
  onDone: (done: number) => void,
): Promise<Refused[]> {
  const refused: Refused[] = []
  let failure: Failure | undefined
  for (let at = 0; at < changes.length; at += MAX_BATCH) {
    const chunk = changes.slice(at, at + MAX_BATCH)
    const answer = failure ?? (await client.post('/v1/track/batch', { body: { changes: chunk } }))
    if (answer.ok) {
      refused.push(...answer.results.flatMap(({ track_id, ok, message = '' }) => (ok ? [] : [{ track_id, message }])))
    } else {
      failure = answer
      refused.push(...chunk.map(({ track_id }) => ({ track_id, message: explain(answer) })))
    }
    onDone(at + chunk.length)
  }
  return refused
}

interface Properties {
  tracks: readonly Editable[]
  /** Called after each change and each undo. */
  onChange: () => unknown
  onClose: () => void
}

/** A sheet that edits one or many tracks at once. */
export function EditTracks({ tracks, onChange, onClose }: Properties) {
  const client = useClient()
  const [typed, setTyped] = useState<Typed>({})
  const [done, setDone] = useState(0)
  const [refused, setRefused] = useState<Refused[]>([])
  const changes = changesOf(tracks, typed)

  async function save() {
    const sent = changes.filter(
      ({ track_id }) => refused.length === 0 || refused.some((one) => one.track_id === track_id),
    )
    const failed = await send(client, sent, setDone)
    const ids = new Set(failed.map(({ track_id }) => track_id))
    const saved = sent.filter(({ track_id }) => !ids.has(track_id))
    setRefused(failed)
    if (saved.length > 0) {
      forgetViews()
      await onChange()
      announce(tn(CHANGED, saved.length), { label: t('Undo'), run: () => undo(saved) })
    }
    if (failed.length === 0) onClose()
  }
  async function undo(saved: ReturnType<typeof changesOf>) {
    const failed = await send(client, restoringChanges(tracks, saved), () => {})
    forgetViews()
    await onChange()
    announce(
      failed[0] ? failed[0].message : tn({ one: '{n} track restored', other: '{n} tracks restored' }, saved.length),
    )
  }
  return (
    <Dialog
      title={
        tracks.length === 1
          ? t('Edit “{name}”', { name: nameOf(tracks[0]!) })
          : tn({ one: 'Edit {n} track', other: 'Edit {n} tracks' }, tracks.length)
      }
      asks={changes.length > 0 && DISCARD}
      onClose={onClose}
    >
      <Form onSubmit={save}>
        {FIELD_NAMES.map((field) => {
          const common = commonValue(tracks, field)
          return (
            <TextField
              key={field}
              label={t(FIELDS[field].label)}
              value={typed[field] ?? common ?? ''}
              placeholder={common === null && typed[field] === undefined ? t('mixed') : ''}
              onInput={(value) => setTyped((before) => ({ ...before, [field]: value }))}
              hint={
                common === null &&
                typed[field] === undefined &&
                t('The tracks have different values. They stay unless you type here.')
              }
            />
          )
        })}
        <Failures refused={refused} tracks={tracks} />
        <div class="actions end">
          <Cancel />
          <Button kind="primary" type="submit" disabled={changes.length === 0}>
            {refused.length > 0 ? t('Try again') : t('Save')}
          </Button>
        </div>
        {done > 0 && changes.length > MAX_BATCH && (
          <progress max={changes.length} value={done} aria-label={t('Progress')} />
        )}
      </Form>
    </Dialog>
  )
}

/** The tracks that could not be changed, each with the reason. */
function Failures({ refused, tracks }: { refused: readonly Refused[]; tracks: readonly Editable[] }) {
  if (refused.length === 0) return null
  const name = (id: string) => nameOf(tracks.find((track) => track.id === id)!)
  return (
    <div class="error" role="alert">
      <p>{tn({ one: '{n} track was not changed:', other: '{n} tracks were not changed:' }, refused.length)}</p>
      <ul>
        {refused.slice(0, LISTED).map(({ track_id, message }) => (
          <li key={track_id}>{t('{name}: {message}', { name: name(track_id), message })}</li>
        ))}
      </ul>
    </div>
  )
}
