import { EMBED_WIDTH, embedHeight } from '../../contract/embed.ts'
import { MAX_VIEWS } from '../../contract/facts.ts'
import type { PlayScope } from '../api.ts'

/** The HTML that users copy into their pages. */

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const attributes = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => (value === '' ? name : `${name}="${escape(value)}"`))
    .join(' ')

/** Returns the HTML of a frame with the embed page of a session. `tracks` determines its height. */
export const iframeCode = (src: string, title: string, scope: PlayScope, tracks: number) =>
  `<iframe ${attributes({ src, title, width: String(EMBED_WIDTH), height: String(embedHeight(scope, tracks)), frameborder: '0', allow: 'autoplay', loading: 'lazy' })}></iframe>`

/**
 * Returns the HTML of an element and its module. The browser reads the session and connects to `storage` while the module loads
 * (docs/player.md#faster-sound). The module needs no `modulepreload`, because it is one file and its script is the next line.
 */
export function elementCode(
  origin: string,
  element: 'player' | 'uploader',
  values: Record<string, string>,
  storage = origin,
) {
  const session = values['play-session-id']
  return [
    ...(storage === origin ? [] : [`<link rel="preconnect" href="${escape(storage)}">`]),
    ...(session
      ? [`<link rel="preload" as="fetch" crossorigin href="${origin}/v1/play/${session}?views=${MAX_VIEWS}">`]
      : []),
    `<script type="module" src="${origin}/elements/${element}.js"></script>`,
    `<tonearm-${element} ${attributes({ 'base-url': origin, ...values })}></tonearm-${element}>`,
  ].join('\n')
}

export const playerCode = (origin: string, values: Record<string, string>, storage?: string) =>
  elementCode(origin, 'player', values, storage)
