import { useEffect, useRef, useState } from 'preact/hooks'

import type { PlayScope } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { dateTime, explain } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copyable.tsx'
import { Check, SelectField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Message } from '../ui/states.tsx'
import { LastingEmbed } from './lasting_embed.tsx'
import { ShareLinks } from './share_links.tsx'
import { iframeCode, playerCode } from './snippets.ts'

interface Properties {
  scope: PlayScope
  id: string
  title: string
}
interface Made {
  play_session_id: string
  expires_at: string
  tracks: readonly unknown[]
  first_track: { variants: { url: string }[] } | null
}

/** Lifetimes of a session in seconds (specification §8), with their labels. */
const LIVES = [
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['21600', '6 hours'],
  ['86400', '24 hours'],
] as const

/** Creates play sessions, and shows the code for a page. */
export function Share({ scope, id, title }: Properties) {
  const client = useClient()
  const { entries: variants } = useList('/v1/variant', (page) => page.variants)
  const [lives, setLives] = useState('86400')
  const [downloadable, setDownloadable] = useState(false)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [made, setMade] = useState<Made>()
  const [problem, setProblem] = useState('')

  async function create() {
    const body = {
      [`${scope}_id`]: id,
      expires_in: Number(lives),
      is_downloadable: downloadable,
      ...(chosen.size > 0 && { variants: [...chosen] }),
    }
    const answer = await client.post('/v1/play_session/{scope}', { params: { scope }, body })
    setProblem(answer.ok ? '' : explain(answer))
    if (answer.ok) setMade(answer)
  }
  function choose(index: string, wanted: boolean) {
    const after = new Set(chosen)
    if (wanted) after.add(index)
    else after.delete(index)
    setChosen(after)
  }
  return (
    <div class="share">
      <ShareLinks scope={scope} id={id} title={title} />
      <Form class="card" aria-labelledby="session-title" onSubmit={create}>
        <h2 id="session-title">Temporary link</h2>
        <p class="soft">A play session opens {title} to whoever has its address, without a key, until it ends.</p>
        <SelectField label="Ends after" value={lives} options={LIVES} onChange={setLives} />
        <fieldset>
          <legend>Variants</legend>
          <p class="hint">Without a choice: all that are made for listening.</p>
          <span class="checks">
            {variants
              .filter(({ type }) => type !== 'waveform' && type !== 'analysis')
              .map(({ index, name }) => (
                <Check
                  key={index}
                  label={name}
                  checked={chosen.has(index)}
                  onChange={(wanted) => choose(index, wanted)}
                />
              ))}
          </span>
        </fieldset>
        <Check label="Listeners may download" checked={downloadable} onChange={setDownloadable} />
        <div class="actions">
          <Button type="submit" kind="primary">
            Create play session
          </Button>
        </div>
        <Message>{problem}</Message>
      </Form>
      {made && <Codes made={made} scope={scope} title={title} downloadable={downloadable} />}
      <LastingEmbed scope={scope} id={id} />
    </div>
  )
}

function Codes({ made, scope, title, downloadable }: Omit<Properties, 'id'> & { made: Made; downloadable: boolean }) {
  const { play_session_id, expires_at, tracks, first_track } = made
  const file = first_track?.variants[0]?.url
  const address = `${location.origin}/embed/${play_session_id}`
  const section = useRef<HTMLElement>(null)
  // The code is often below the visible part of the page.
  useEffect(() => section.current?.scrollIntoView({ block: 'center' }), [play_session_id])
  return (
    <section class="card codes" aria-labelledby="codes-title" ref={section}>
      <h2 id="codes-title">Embed code</h2>
      <p class="soft" role="status">
        The session is there, and ends on {dateTime(expires_at)}.{' '}
        <a href={address} target="_blank" rel="noopener">
          Open the embed page
        </a>
      </p>
      <Copyable label="Link" value={address} />
      <Copyable label="Frame" value={iframeCode(address, title, scope, tracks.length)} />
      <Copyable
        label="Player element"
        value={playerCode(
          location.origin,
          { 'play-session-id': play_session_id, ...(downloadable && { download: '' }) },
          file && new URL(file).origin,
        )}
      />
      <Copyable label="Play session" value={play_session_id} />
    </section>
  )
}
