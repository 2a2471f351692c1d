import { EMBED_WIDTH, embedHeight } from '../../contract/embed.ts'
import type { PlayScope } from '../api.ts'

/** HTML to copy into a page. */

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const attributes = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => (value === '' ? name : `${name}="${escape(value)}"`))
    .join(' ')

/** A frame with the embed page of a session that lists so many tracks. */
export const iframeCode = (src: string, title: string, scope: PlayScope, tracks: number) =>
  `<iframe ${attributes({ src, title, width: String(EMBED_WIDTH), height: String(embedHeight(scope, tracks)), frameborder: '0', allow: 'autoplay', loading: 'lazy' })}></iframe>`

/** The module, and the element it defines. A session is read while the module loads (docs/player.md#faster-sound). */
export const elementCode = (origin: string, element: 'player' | 'uploader', values: Record<string, string>) =>
  `${values['play-session-id'] ? `<link rel="preload" as="fetch" crossorigin href="${origin}/v1/play/${values['play-session-id']}">\n` : ''}<script type="module" src="${origin}/elements/${element}.js"></script>
<tonearm-${element} ${attributes({ 'base-url': origin, ...values })}></tonearm-${element}>`

export const playerCode = (origin: string, values: Record<string, string>) => elementCode(origin, 'player', values)
