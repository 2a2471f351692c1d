import { useEffect, useRef, useState } from 'preact/hooks'

import type { PlayScope } from '../../base/api.ts'
import { dateTime, explain } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Check } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Message } from '../../ui/page/states.tsx'
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
  ['900', text('15 minutes')],
  ['3600', text('1 hour')],
  ['21600', text('6 hours')],
  ['86400', text('24 hours')],
] as const

/** Creates play sessions, and shows the code for a page. */
export function TemporaryLink({ scope, id, title }: Properties) {
  const client = useClient()
  const { entries: variants } = useList('/v1/variant', (page) => page.variants)
  const [lives, setLives] = useState('86400')
  const [downloadable, setDownloadable] = useState(false)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [made, setMade] = useState<Made>()
  const [problem, setProblem] = useState('')

  async function create() {
    const body = {
      ...({ [`${scope}_id`]: id } as { track_id: string }),
      expires_in: Number(lives),
      is_downloadable: downloadable,
      ...(chosen.size > 0 && { variants: [...chosen] }),
    }
    const answer = await client.post(`/v1/play_session/${scope as 'track'}`, { body })
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
    <>
      <Form onSubmit={create}>
        <p class="soft">
          {t('A play session opens this to everyone who has its address, without a key, until it ends.')}
        </p>
        <SelectField
          label={t('Ends after')}
          value={lives}
          options={LIVES.map(([value, label]) => [value, t(label)] as const)}
          onChange={setLives}
        />
        <fieldset>
          <legend>{t('Variants')}</legend>
          <p class="hint">{t('Without a choice: all that are made for listening.')}</p>
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
        <Check label={t('Listeners may download')} checked={downloadable} onChange={setDownloadable} />
        <div class="actions">
          <Button type="submit">{t('Create play session')}</Button>
        </div>
        <Message>{problem}</Message>
      </Form>
      {made && <Codes made={made} scope={scope} title={title} downloadable={downloadable} />}
    </>
  )
}

function Codes({ made, scope, title, downloadable }: Omit<Properties, 'id'> & { made: Made; downloadable: boolean }) {
  const { play_session_id, expires_at, tracks, first_track } = made
  const file = first_track?.variants[0]?.url
  const address = `${location.origin}/embed/${play_session_id}`
  const section = useRef<HTMLElement>(null)
  // The code is often below the visible part of the dialog.
  useEffect(() => section.current?.scrollIntoView({ block: 'center' }), [play_session_id])
  return (
    <section class="codes" aria-labelledby="codes-title" ref={section}>
      <h3 id="codes-title">{t('Embed code')}</h3>
      <p class="soft" role="status">
        {t('The session ends on {date}.', { date: dateTime(expires_at) })}{' '}
        <a href={address} target="_blank" rel="noopener">
          {t('Open the embed page')}
        </a>
      </p>
      <Copyable label={t('Temporary address')} value={address} />
      <Copyable label={t('Frame')} value={iframeCode(address, title, scope, tracks.length)} />
      <Copyable
        label={t('Player element')}
        value={playerCode(
          location.origin,
          { 'play-session-id': play_session_id, ...(downloadable && { download: '' }) },
          file && new URL(file).origin,
        )}
      />
      <Copyable label={t('Play session')} value={play_session_id} />
    </section>
  )
}
