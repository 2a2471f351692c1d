import { useEffect, useRef, useState } from 'preact/hooks'

import { isTransient } from '../../client/retry.ts'
import { DEFAULT_COLOR } from '../../contract/facts.ts'
import { isHex } from '../../elements/shared/color.ts'
import type { Failure, PlayScope } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useStore } from '../data/store.ts'
import { forgetViews, sessionFor, viewChanges } from '../data/views.ts'
import { explain, type Faults, faultsOf } from '../format.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { ColorField, ThemeField } from '../ui/color_field.tsx'
import { Check, TextField } from '../ui/field.tsx'
import { Message } from '../ui/states.tsx'

/** The appearance of a collection, a playlist or a track. The form shows only the fields that exist. */
export interface Look {
  title?: string | undefined
  player_title?: string | null
  player_subtitle?: string | null
  player_color?: string | null
  theme?: string[]
  is_cover_overridable?: boolean
  is_theme_overridable?: boolean
}
interface Properties {
  scope: PlayScope
  id: string
  values: Look
  /** The name of the file, if the title may be empty. */
  placeholder?: string
  /** Resolves to the failure, if there is one. */
  save: (changes: Look) => Promise<Failure | undefined>
}

/** Milliseconds from the last keystroke until a change is saved. */
const DELAY = 500

/** Saves the changes of the form after a pause, one after the other. */
function useAutosave({ values, save }: Pick<Properties, 'values' | 'save'>) {
  const [look, setLook] = useState<Look>(values)
  const [state, setState] = useState<'saved' | 'saving' | 'failed' | 'idle'>('idle')
  const [faults, setFaults] = useState<Faults>({})
  const pending = useRef<Look>({})
  const timer = useRef(0)
  const saved = useRef<Promise<unknown>>(Promise.resolve())
  const name = 'player_title' in values ? 'player_title' : 'title'

  /** Sends the pending changes after the previous ones. A change that failed temporarily is sent with the next one. */
  function flush(): Promise<Failure | undefined> {
    clearTimeout(timer.current)
    const flushed = saved.current.then(async () => {
      const changes = pending.current
      pending.current = {}
      if (Object.values(changes).every((value) => value === undefined)) return
      setState('saving')
      const failure = await save(changes)
      setFaults(failure ? faultsOf(failure, [name, 'player_subtitle']) : {})
      if (!failure) {
        setState('saved')
        forgetViews()
      } else if (isTransient(failure)) {
        setState('failed')
        pending.current = { ...changes, ...pending.current }
      } else setState('idle')
      return failure
    })
    saved.current = flushed
    return flushed
  }
  function change(changes: Look) {
    setLook((before) => ({ ...before, ...changes }))
    // An empty title is neither saved nor replaced by the previous title while the user types a new one.
    if (changes.title?.trim() === '') {
      pending.current.title = undefined
      return setFaults({ title: 'A title is needed.' })
    }
    setFaults({})
    Object.assign(pending.current, changes)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => void flush(), DELAY)
  }
  // The last change is saved when the user leaves the page.
  useEffect(() => () => void flush().then((failure) => failure && announce(explain(failure))), [])
  return { look, name, state, faults, change, flush } as const
}

/** The form for the appearance in players. Each change is saved, and shown in a player next to the form. */
export function LookForm({ scope, id, values, placeholder, save }: Properties) {
  const { look, name, state, faults, change, flush } = useAutosave({ values, save })
  return (
    <div class="look">
      <form class="card" aria-label="Look" onSubmit={(event) => event.preventDefault()}>
        <TextField
          label="Title"
          value={look[name] ?? ''}
          onInput={(text) => change({ [name]: name === 'player_title' ? text || null : text })}
          error={faults[name]}
          {...(placeholder && { placeholder })}
        />
        <TextField
          label="Subtitle"
          value={look.player_subtitle ?? ''}
          onInput={(text) => change({ player_subtitle: text || null })}
          error={faults.player_subtitle}
          hint={`An artist, an author, a date.${scope === 'collection' ? ' Shown for each track without an artist.' : ''}`}
        />
        <ColorField
          label="Player color"
          value={look.player_color === DEFAULT_COLOR ? null : (look.player_color ?? null)}
          onChange={(player_color) => change({ player_color })}
        />
        {look.theme && <ThemeField colors={look.theme} onChange={(theme) => change({ theme })} />}
        {look.is_cover_overridable !== undefined && scope === 'collection' && (
          <fieldset>
            <legend>Tracks may have their own</legend>
            <Check
              label="Cover"
              checked={look.is_cover_overridable}
              onChange={(is_cover_overridable) => change({ is_cover_overridable })}
            />
            <Check
              label="Colors"
              checked={look.is_theme_overridable ?? true}
              onChange={(is_theme_overridable) => change({ is_theme_overridable })}
            />
          </fieldset>
        )}
        <p class="soft saved" role="status">
          {state === 'saving' ? 'Saving …' : state === 'saved' ? 'Saved' : 'Changes are saved as you make them.'}
        </p>
        <Message>{faults.other}</Message>
        {state === 'failed' && (
          <div class="actions">
            <Button small onClick={flush}>
              Try again
            </Button>
          </div>
        )}
      </form>
      <Preview scope={scope} id={id} accent={look.player_color === values.player_color ? null : look.player_color} />
    </div>
  )
}

interface PreviewProperties {
  scope: PlayScope
  id: string
  /** A color that is not yet saved. */
  accent: string | null | undefined
}

/** A player as a preview. It shows a color while the user chooses it. */
function Preview({ scope, id, accent }: PreviewProperties) {
  const client = useClient()
  const version = useStore(viewChanges)
  const [session, setSession] = useState<string | null>(null)
  useEffect(
    () => void sessionFor(client, scope, id).then((made) => made.ok && setSession(made.play_session_id)),
    [scope, id],
  )
  return (
    <section class="preview" aria-label="Preview">
      <h2 class="soft">Preview</h2>
      {session && (
        <tonearm-player key={version} play-session-id={session} accent={isHex(accent) ? accent : undefined} />
      )}
    </section>
  )
}
