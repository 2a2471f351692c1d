import { useState } from 'preact/hooks'

import { MAX_BATCH } from '../../../contract/facts.ts'
import type { TrackChange } from '../../../contract/track_batch.ts'
import type { Client, Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { nameOf } from '../../data/track_text.ts'
import { forgetViews } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Cancel, Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import {
  changesOf,
  commonValue,
  type Conflict,
  conflictOf,
  type Editable,
  FIELD_NAMES,
  FIELDS,
  isValid,
  restoringChanges,
  type Typed,
  type Update,
} from './edit_changes.ts'

const CHANGED = { one: '{n} track changed', other: '{n} tracks changed' }
/** The number of failures that are listed. */
const LISTED = 20

interface Refused {
  track_id: string
  message: string
  /** The track as it is now, if someone else has changed it. */
  current?: Editable | undefined
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
      refused.push(
        ...answer.results.flatMap(({ track_id, ok, message = '', current }) =>
          ok ? [] : [{ track_id, message, current }],
        ),
      )
    } else {
      failure = answer
      refused.push(...chunk.map(({ track_id }) => ({ track_id, message: explain(answer) })))
    }
    onDone(at + chunk.length)
  }
  return refused
}

/** Compares the tracks that someone else has changed with their earlier values. */
const conflictsOf = (tracks: readonly Editable[], sent: readonly Update[], refused: Refused[]) =>
  refused.flatMap(({ track_id, current }) => {
    const before = tracks.find(({ id }) => id === track_id)!
    const change = sent.find((one) => one.track_id === track_id)!
    return current ? [conflictOf(before, current, change)] : []
  })

/**
 * Sends changes. A change whose fields no other person has changed is sent again with the new version; the others are conflicts, about which the user
 * decides.
 */
async function sendAll(
  client: Client,
  tracks: readonly Editable[],
  changes: readonly Update[],
  onDone: (done: number) => void,
) {
  const first = await send(client, changes, onDone)
  const found = conflictsOf(tracks, changes, first)
  const conflicts = found.filter(({ fields }) => fields.length > 0)
  const again = found.filter(({ fields }) => fields.length === 0).map(({ change }) => change)
  const second = again.length > 0 ? await send(client, again, () => {}) : []
  const compared = new Set(found.map(({ change }) => change.track_id))
  return { conflicts, refused: [...first.filter(({ track_id }) => !compared.has(track_id)), ...second] }
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
  const [conflicts, setConflicts] = useState<Conflict[]>([])
  const changes = changesOf(tracks, typed)
  const isWrong = FIELD_NAMES.some((field) => !isValid(field, typed[field] ?? ''))

  async function save() {
    if (isWrong) return
    const again = new Set([...refused, ...conflicts.map(({ change }) => change)].map(({ track_id }) => track_id))
    const known = new Map(conflicts.map(({ current }) => [current.id, current]))
    const sent = changes
      .filter(({ track_id }) => again.size === 0 || again.has(track_id))
      .map((change) => ({ ...change, version: known.get(change.track_id)?.version ?? change.version }))
    // After a conflict, a further change of the same fields is a new one.
    const before = tracks.map((track) => known.get(track.id) ?? track)
    const outcome = await sendAll(client, before, sent, setDone)
    const failed = [...outcome.refused, ...outcome.conflicts.map(({ change }) => change)]
    const ids = new Set(failed.map(({ track_id }) => track_id))
    const saved = sent.filter(({ track_id }) => !ids.has(track_id))
    setRefused(outcome.refused)
    setConflicts(outcome.conflicts)
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
          ? t('Edit {name}', { name: nameOf(tracks[0]!) })
          : tn({ one: 'Edit {n} track', other: 'Edit {n} tracks' }, tracks.length)
      }
      asks={changes.length > 0 && DISCARD}
      onClose={onClose}
    >
      <Form onSubmit={save}>
        <Fields tracks={tracks} typed={typed} onType={(change) => setTyped((before) => ({ ...before, ...change }))} />
        <Conflicts conflicts={conflicts} />
        <Failures refused={refused} tracks={tracks} />
        <div class="actions end">
          <Cancel />
          <Button kind="primary" type="submit" disabled={changes.length === 0 || isWrong}>
            {conflicts.length > 0 ? t('Save mine') : refused.length > 0 ? t('Try again') : t('Save')}
          </Button>
        </div>
        {done > 0 && changes.length > MAX_BATCH && (
          <progress max={changes.length} value={done} aria-label={t('Progress')} />
        )}
      </Form>
    </Dialog>
  )
}

interface FieldsProperties {
  tracks: readonly Editable[]
  typed: Typed
  onType: (change: Typed) => void
}

/** The fields of the sheet. A field in which the tracks differ is empty and says so. */
const Fields = ({ tracks, typed, onType }: FieldsProperties) => (
  <div class="fields">
    {FIELD_NAMES.map((field) => {
      const common = commonValue(tracks, field)
      const value = typed[field]
      const isMixed = common === null && value === undefined
      return (
        <TextField
          key={field}
          label={t(FIELDS[field].label)}
          value={value ?? common ?? ''}
          placeholder={isMixed ? t('mixed') : ''}
          onInput={(text) => onType({ [field]: text })}
          hint={isMixed && t('The tracks have different values. They stay unless you type here.')}
          error={
            isValid(field, value ?? '')
              ? undefined
              : field === 'date'
                ? t('Write a year, a month or a day, such as 1959, 1959-08 or 1959-08-17.')
                : t('Write a number up to 9999.')
          }
        />
      )
    })}
  </div>
)

/** The tracks that someone else has changed, with the values that saving would overwrite. */
function Conflicts({ conflicts }: { conflicts: readonly Conflict[] }) {
  if (conflicts.length === 0) return null
  return (
    <div class="error" role="alert">
      <p>
        {tn(
          {
            one: 'Someone else has changed {n} track meanwhile. Nothing was overwritten:',
            other: 'Someone else has changed {n} tracks meanwhile. Nothing was overwritten:',
          },
          conflicts.length,
        )}
      </p>
      <ul>
        {conflicts.slice(0, LISTED).flatMap(({ current, fields }) =>
          fields.map((field) => (
            <li key={`${current.id} ${field}`}>
              {t('{name}: {field} is now “{value}”', {
                name: nameOf(current),
                field: t(FIELDS[field].label),
                value: FIELDS[field].valueOf(current),
              })}
            </li>
          )),
        )}
      </ul>
      <p>{t('Save mine to replace these values, or cancel to keep them.')}</p>
    </div>
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
