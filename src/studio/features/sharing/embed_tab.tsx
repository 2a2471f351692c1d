import { useState } from 'preact/hooks'

import { EMBED_MIN_WIDTH } from '../../../contract/embed.ts'
import { SHARE_KEY } from '../../../contract/facts.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { sessionFor } from '../../data/views.ts'
import { Choice } from '../../ui/controls/choice.tsx'
import { ColorField } from '../../ui/controls/color_field.tsx'
import { Fold } from '../../ui/controls/fold.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Problem } from '../../ui/page/states.tsx'
import { isFramed } from './link.ts'
import { NeedsLink } from './needs_link.tsx'
import type { Shared } from './open_share.ts'
import { PlayerKey } from './player_key.tsx'
import { DEFAULT_LOOK, iframeCode, lookAttributes, playerCode, reactCode, vueCode } from './snippets.ts'
import type { EditedLink } from './use_link.ts'

interface Properties {
  shared: Shared
  title: string
  link: EditedLink
}

/** A player with the chosen appearance, and the code for a page with it. */
export function EmbedTab({ shared, title, link }: Properties) {
  const client = useClient()
  const [look, setLook] = useState(DEFAULT_LOOK)
  const { scope, id } = shared
  const { answer, problem, reload } = useQuery({
    key: ['preview session', scope, id],
    load: () => sessionFor(client, scope, id),
  })
  const file = answer?.first_track?.variants[0]?.url
  return (
    <div class="share-columns embed">
      <div class="fields">
        <NeedsLink link={link} reason={t('The code contains a link, which also appears under Shares.')}>
          {(made) => (
            <Codes
              link={made}
              scope={scope}
              id={id}
              title={made.title ?? title}
              tracks={answer?.tracks.length ?? 0}
              storage={file && new URL(file).origin}
              look={look}
            />
          )}
        </NeedsLink>
        <Choice
          label={t('Size')}
          value={look.size}
          options={[
            ['compact', text('Compact')],
            ['narrow', text('Narrow')],
            ['wide', text('Wide')],
          ]}
          onChange={(size) => setLook({ ...look, size })}
        />
        <Choice
          label={t('Theme')}
          value={look.theme}
          options={[
            ['auto', text('Automatic')],
            ['light', text('Light')],
            ['dark', text('Dark')],
          ]}
          onChange={(theme) => setLook({ ...look, theme })}
        />
        <ColorField label={t('Accent')} value={look.accent} onChange={(accent) => setLook({ ...look, accent })} />
        <Fold title={t('Permanent player with its own key')}>
          <PlayerKey scope={scope} id={id} attributes={lookAttributes(look)} />
        </Fold>
      </div>
      <div class={`embed-preview ${look.size}`}>
        {problem && <Problem failure={problem} retry={reload} />}
        {answer && (
          <tonearm-player
            play-session-id={answer.play_session_id}
            layout={look.size === 'compact' ? 'compact' : 'full'}
            theme={look.theme}
            accent={look.accent ?? undefined}
            no-memory
            no-statistics
          />
        )}
      </div>
    </div>
  )
}

type Framework = 'html' | 'iframe' | 'react' | 'vue' | 'oembed'

interface CodesProperties {
  link: NonNullable<EditedLink['link']>
  scope: Shared['scope']
  id: string
  title: string
  /** The number of tracks; 0 if it is not known. */
  tracks: number
  storage: string | undefined
  look: typeof DEFAULT_LOOK
}

function Codes({ link, scope, id, title, tracks, storage, look }: CodesProperties) {
  const [framework, setFramework] = useState<Framework>('html')
  const { slug, url, embed_url, has_password } = link
  const values = { 'api-key': `${SHARE_KEY}${slug}`, scope, 'resource-id': id, ...lookAttributes(look) }
  const { origin } = location
  const frame = iframeCode(embed_url, title, scope, tracks, look)
  if (has_password) {
    return isFramed(link) ? (
      <Copyable label={t('Frame')} value={frame} />
    ) : (
      <p class="soft">
        {t(
          'This link has a password, so other sites cannot show it in a frame. Turn on “Embed only on these sites” under Link to allow some.',
        )}
      </p>
    )
  }
  const codes: Record<Framework, readonly [label: string, value: string]> = {
    html: [t('HTML for your page'), narrow(playerCode(origin, values, storage), look.size)],
    iframe: [t('Frame'), frame],
    react: [t('React component'), reactCode(origin, values)],
    vue: [t('Vue component'), vueCode(origin, values)],
    oembed: [t('Address for WordPress and oEmbed'), url],
  }
  const [label, value] = codes[framework]
  return (
    <>
      <Choice
        label={t('Code for')}
        value={framework}
        options={[
          ['html', 'HTML'],
          ['iframe', 'iframe'],
          ['react', 'React'],
          ['vue', 'Vue'],
          ['oembed', 'WordPress'],
        ]}
        onChange={setFramework}
      />
      <Copyable label={label} value={value} />
      {framework === 'oembed' && (
        <p class="hint">
          {t('Paste it on a line of its own. WordPress and other editors with oEmbed show the player.')}
        </p>
      )}
      {(framework === 'react' || framework === 'vue') && (
        <p class="hint">{t('Install the package @tonearm/elements first.')}</p>
      )}
    </>
  )
}

/** The element fills its parent, so a narrow one needs a parent of that width. */
const narrow = (code: string, size: string) =>
  size === 'narrow'
    ? code.replace(/<tonearm-player[^]*$/, (element) => `<div style="max-width: ${EMBED_MIN_WIDTH}px">${element}</div>`)
    : code
