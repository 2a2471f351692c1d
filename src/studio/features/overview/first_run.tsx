import { useState } from 'preact/hooks'

import { DEFAULT_ACCEPT } from '../../../client/upload/accept.ts'
import { t } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { uploadAsCollection } from '../../data/uploads.ts'
import { Button, FileButton } from '../../ui/controls/button.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { playerCode } from '../sharing/snippets.ts'

/** The port of `npm start` without settings. */
const PORT = '8787'

/** Returns the command that prints the events of a service on this machine; null for another service. */
function webhooksCommand({ hostname, port }: Pick<Location, 'hostname' | 'port'>, key: string): string | null {
  if (hostname !== 'localhost' && hostname !== '127.0.0.1') return null
  return [port !== PORT && `PORT=${port}`, `TONEARM_KEY=${key}`, 'npm run webhooks'].filter(Boolean).join(' ')
}

const curl = (path: string, key: string, body: object) =>
  [
    `curl ${location.origin}${path} \\`,
    `  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n')

/** The page Overview of an organization without content: how to upload the first files, in the studio and from code. */
export function FirstRun() {
  const connection = useConnection()
  const [isRevealed, reveal] = useState(false)
  const { api_key } = connection
  /** Returns a snippet with the key, and the text that is shown. */
  const snippet = (codeFor: (key: string) => string) => ({
    value: codeFor(api_key),
    shown: isRevealed ? undefined : codeFor(`${api_key.slice(0, 6)}…`),
  })
  return (
    <>
      <section class="part first-drop">
        <h2>{t('Upload your first files')}</h2>
        <p class="soft">
          {t(
            'Choose audio files or drop them anywhere on this page. They become a collection, such as an album or a podcast.',
          )}
        </p>
        <FileButton
          accept={DEFAULT_ACCEPT}
          multiple
          kind="primary"
          icon="upload"
          onFiles={(files) => uploadAsCollection(connection, files)}
        >
          {t('Choose files')}
        </FileButton>
      </section>
      <section class="part" aria-labelledby="code-title">
        <div class="section-head">
          <h2 id="code-title">{t('Or start with code')}</h2>
          <Button small onClick={() => reveal(!isRevealed)}>
            {isRevealed ? t('Hide the key') : t('Show the key')}
          </Button>
        </div>
        <Copyable
          label={t('Create a collection with curl')}
          {...snippet((key) => curl('/v1/collection', key, { title: t('First album') }))}
        />
        <Copyable
          label={t('Play it on your page, with a play session of your server')}
          value={playerCode(location.origin, { 'play-session-id': 'PLAY_SESSION_ID' })}
        />
        <Copyable
          label={webhooksCommand(location, '') === null ? t('Send all events to your server') : t('Watch the events')}
          {...snippet(
            (key) =>
              webhooksCommand(location, key) ??
              curl('/v1/webhook_endpoint', key, { url: 'https://example.com/webhook' }),
          )}
        />
        <p class="soft">
          <a href="/docs" target="_blank" rel="noopener">
            {t('All operations of the API')}
          </a>
        </p>
      </section>
    </>
  )
}
