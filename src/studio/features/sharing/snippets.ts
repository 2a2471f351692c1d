import { EMBED_HEIGHTS, EMBED_MIN_WIDTH, EMBED_WIDTH, embedHeight } from '../../../contract/embed.ts'
import { MAX_VIEWS } from '../../../contract/facts.ts'
import type { PlayScope } from '../../base/api.ts'

/** The HTML that users copy into their pages. */

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const attributes = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => (value === '' ? name : `${name}="${escape(value)}"`))
    .join(' ')

/** The appearance of an embedded player. */
export interface EmbedLook {
  size: 'compact' | 'narrow' | 'wide'
  theme: 'auto' | 'light' | 'dark'
  /** `#RRGGBB`; null for the color of the cover. */
  accent: string | null
}
export const DEFAULT_LOOK: EmbedLook = { size: 'wide', theme: 'auto', accent: null }

/** Returns the HTML of a frame with the embed page of a session or a share. `tracks` determines its height. */
export function iframeCode(
  src: string,
  title: string,
  scope: PlayScope,
  tracks: number,
  look: Partial<EmbedLook> = {},
) {
  const { size, theme = 'auto', accent } = look
  const isCompact = size === 'compact'
  const query = new URLSearchParams({
    ...(isCompact && { layout: 'compact' }),
    ...(theme !== 'auto' && { theme }),
    ...(accent && { accent: accent.slice(1) }),
  }).toString()
  const values = {
    src: `${src}${query && `?${query}`}`,
    title,
    width: size === 'wide' ? '100%' : String(size === 'narrow' ? EMBED_MIN_WIDTH : EMBED_WIDTH),
    height: String(isCompact ? EMBED_HEIGHTS.compact : embedHeight(scope, tracks)),
    frameborder: '0',
    allow: 'autoplay',
    loading: 'lazy',
  }
  return `<iframe ${attributes(values)}></iframe>`
}

/** Returns the attributes of a player element with an appearance. */
export const lookAttributes = ({ size, theme, accent }: EmbedLook): Record<string, string> => ({
  ...(size === 'compact' && { layout: 'compact' }),
  ...(theme !== 'auto' && { theme }),
  ...(accent && { accent }),
})

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

/** Returns a component for React 19 with the player (docs/packages.md#react-19). */
export const reactCode = (origin: string, values: Record<string, string>) =>
  `import '@tonearm/elements/player'
import '@tonearm/elements/react'

export const Player = () => (
  <tonearm-player ${attributes({ 'base-url': origin, ...values })} />
)`

/** Returns a component for Vue 3 with the player (docs/packages.md#vue-3). */
export const vueCode = (origin: string, values: Record<string, string>) =>
  `<script setup lang="ts">
// vite.config: isCustomElement: (tag) => tag.startsWith('tonearm-')
import '@tonearm/elements/player'
import '@tonearm/elements/vue'
</script>

<template>
  <tonearm-player ${attributes({ 'base-url': origin, ...values })} />
</template>`
