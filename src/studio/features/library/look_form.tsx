import { useEffect, useRef, useState } from 'preact/hooks'

import { isTransient, sleep } from '../../../client/retry.ts'
import type { ImageColor } from '../../../contract/color.ts'
import { DEFAULT_COLOR } from '../../../contract/facts.ts'
import { isHex } from '../../../elements/shared/color.ts'
import type { Failure, PlayScope } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useStore } from '../../data/store.ts'
import { forgetViews, sessionFor, viewChanges } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ColorChoice, ThemeField } from '../../ui/controls/color_field.tsx'
import { Check } from '../../ui/controls/field.tsx'
import { Conflict } from '../../ui/edit/conflict.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Message } from '../../ui/page/states.tsx'

/** The appearance of a collection, a playlist or a track. The form shows only the fields that exist. */
export interface Look {
  player_color?: string | null
  theme?: string[]
  is_cover_overridable?: boolean
  is_theme_overridable?: boolean
}
interface Properties {
  scope: PlayScope
  id: string
  values: Look & { image_colors?: ImageColor[] }
  /** The colors of the cover that players show; by default those of the resource. */
  palette?: ImageColor[] | undefined
  /** The resource that the preview plays, by default the one of the form; null if nothing can be played. */
  preview?: Pick<PreviewProperties, 'scope' | 'id'> | null
  /** Resolves to the failure, if there is one. */
  save: (changes: Look) => Promise<Failure | undefined>
}

/** Milliseconds from the last change until it is saved. A color changes many times while it is chosen. */
const DELAY = 300
/** Milliseconds until changes that could not be sent are sent again. */
const AGAIN = 5000

/** Returns the text about changes that could not be saved after the user had left the page. */
const lostText = (failure: Failure) =>
  failure.code === 'version_mismatch'
    ? t('Someone else has changed the same values. Your changes were not saved.')
    : explain(failure)

/** Saves the changes of the form after a pause, one after the other. */
function useAutosave({ values, save }: Pick<Properties, 'values' | 'save'>) {
  const [look, setLook] = useState<Look>(values)
  const [state, setState] = useState<'saved' | 'saving' | 'failed' | 'conflict' | 'idle'>('idle')
  const [problem, setProblem] = useState('')
  const pending = useRef<Look>({})
  /** Whether the pending changes wait for the user, because someone else has changed the same values. */
  const isHeld = useRef(false)
  /** Whether the user has left the page, so that the form cannot show a failure. */
  const isGone = useRef(false)
  const timer = useRef(0)
  const saved = useRef<Promise<unknown>>(Promise.resolve())
  const latest = useRef(save)
  latest.current = save

  /**
   * Sends the pending changes after the previous ones. A change that failed temporarily is sent again. After a conflict, nothing is sent until the
   * user has decided.
   */
  function flush(isDecided = false): Promise<Failure | undefined> {
    clearTimeout(timer.current)
    const flushed = saved.current.then(async () => {
      if (isHeld.current && !isDecided) return
      isHeld.current = false
      const changes = pending.current
      pending.current = {}
      if (Object.keys(changes).length === 0) return
      setState('saving')
      const failure = await latest.current(changes)
      const isConflict = failure?.code === 'version_mismatch'
      isHeld.current = isConflict
      setProblem(failure && !isConflict ? explain(failure) : '')
      if (failure && isGone.current && !isTransient(failure)) announce(lostText(failure))
      if (!failure) {
        setState('saved')
        forgetViews()
      } else if (isConflict || isTransient(failure)) {
        setState(isConflict ? 'conflict' : 'failed')
        pending.current = { ...changes, ...pending.current }
      } else setState('idle')
      return failure
    })
    saved.current = flushed
    return flushed
  }
  function change(changes: Look) {
    setLook((before) => ({ ...before, ...changes }))
    Object.assign(pending.current, changes)
    clearTimeout(timer.current)
    if (!isHeld.current) timer.current = setTimeout(() => void flush(), DELAY)
  }
  /** Ends a conflict with the values of someone else. */
  function keepTheirs() {
    pending.current = {}
    isHeld.current = false
    setLook(values)
    setState('idle')
  }
  // The last change is saved when the user leaves the page, or loads it again.
  useEffect(() => {
    const send = () => {
      if (!isHeld.current && Object.keys(pending.current).length > 0) void latest.current(pending.current)
    }
    addEventListener('pagehide', send)
    return () => {
      removeEventListener('pagehide', send)
      isGone.current = true
      // This also repeats a save that fails temporarily after the page was left.
      void flush().then((failure) => failure && isTransient(failure) && announce(explain(failure)))
    }
  }, [])
  useEffect(() => {
    if (state !== 'failed') return undefined
    const again = new AbortController()
    void (async () => (await sleep(AGAIN, again.signal, { online: true })) && flush())()
    return () => again.abort()
  }, [state])
  return { look, state, problem, change, flush, keepTheirs } as const
}

/** The form for the colors in players. Each change is saved, and shown in a player next to the form. */
export function LookForm(properties: Properties) {
  const { scope, id, values, palette = values.image_colors ?? [], preview = { scope, id }, save } = properties
  const { look, state, problem, change, flush, keepTheirs } = useAutosave({ values, save })
  const color = look.player_color === DEFAULT_COLOR ? null : (look.player_color ?? null)
  return (
    <div class="look">
      {preview && (
        <Preview {...preview} accent={look.player_color === values.player_color ? null : look.player_color} />
      )}
      <form aria-label={t('Look')} onSubmit={(event) => event.preventDefault()}>
        <ColorChoice
          label={t('Player color')}
          value={color}
          swatches={palette.map(({ hex }) => hex)}
          onChange={(player_color) => change({ player_color })}
        />
        {look.theme && <ThemeField colors={look.theme} onChange={(theme) => change({ theme })} />}
        {look.is_cover_overridable !== undefined && scope === 'collection' && (
          <fieldset>
            <legend>{t('Tracks may have their own')}</legend>
            <Check
              label={t('Cover')}
              checked={look.is_cover_overridable}
              onChange={(is_cover_overridable) => change({ is_cover_overridable })}
            />
            <Check
              label={t('Colors')}
              checked={look.is_theme_overridable ?? true}
              onChange={(is_theme_overridable) => change({ is_theme_overridable })}
            />
          </fieldset>
        )}
        <p class="soft saved" role="status">
          {state === 'saving' ? t('Saving …') : state === 'saved' ? t('Saved') : ''}
        </p>
        <Message>{problem}</Message>
        {state === 'conflict' && <Conflict onMine={() => flush(true)} onTheirs={keepTheirs} />}
        {state === 'failed' && (
          <div class="actions">
            <Button small onClick={() => flush()}>
              {t('Try again')}
            </Button>
          </div>
        )}
      </form>
    </div>
  )
}

interface PreviewProperties {
  scope: PlayScope
  id: string
  /** A color that is not yet saved. */
  accent: string | null | undefined
}

/** A player as a preview, without controls: the page has its own player. It shows a color while the user chooses it. */
function Preview({ scope, id, accent }: PreviewProperties) {
  const client = useClient()
  const version = useStore(viewChanges)
  const [session, setSession] = useState<string | null>(null)
  useEffect(
    () => void sessionFor(client, scope, id).then((made) => made.ok && setSession(made.play_session_id)),
    [scope, id],
  )
  return (
    <section class="preview" aria-label={t('Preview')}>
      {session && (
        <tonearm-player
          key={version}
          play-session-id={session}
          inert
          no-statistics
          accent={isHex(accent) ? accent : undefined}
        />
      )}
    </section>
  )
}
