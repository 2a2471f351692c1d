import type * as z from 'zod'

import type { clientOperations as operations } from '../../../src/contract/client_operations.ts'
import { DEMO_SONG, playDemoSong, wavOf } from '../../shared/demo_song.ts'
import { escapeHtml } from './html.ts'

/**
 * The live elements in the guides: a line `<!-- demo: NAME -->` in the Markdown becomes an element that works without a key and sends requests only for its
 * own files. `src/reference/demo.ts` loads its script when it comes into view.
 */

const RATE = 8000
const { title, artist, seconds: SECONDS } = DEMO_SONG
const LEVELS = 320

const [left, right] = playDemoSong(RATE)
const song = left.map((sample, index) => (sample + right[index]!) / 2)

/** Returns the song with one channel as a WAV file. */
export const demoAudio = (): Uint8Array => wavOf([song], RATE)

/** Returns 320 levels from 0 to 1, as in a play view. */
function levels(): number[] {
  const size = song.length / LEVELS
  const parts = Array.from({ length: LEVELS }, (_, at) => song.subarray(at * size, (at + 1) * size))
  const loudness = parts.map((part) => Math.sqrt(part.reduce((sum, sample) => sum + sample ** 2, 0) / part.length))
  const loudest = Math.max(...loudness)
  return loudness.map((level) => Math.round((level / loudest) * 1000) / 1000)
}

export const DEMO_AUDIO = 'docs/demo.wav'
const ID = '00000000-0000-4000-8000-000000000001'

/** Returns a play session with one track, as the response to `GET /v1/play/{play_session_id}?views=1`. */
function session(): Omit<z.input<typeof operations.playSession.response>, 'heard_token'> {
  const image = <T extends string>(type: T, width: number) => ({
    type,
    width,
    height: width,
    url: `/cover/${type}.jpg`,
  })
  const track = {
    id: ID,
    index: 'demo',
    duration: SECONDS,
    order: 1,
    player_title: title,
    player_subtitle: artist,
    player_color: '#2b6777',
  }
  const play_session = {
    id: ID,
    variants: ['original'],
    is_downloadable: false,
    expires_at: '2099-01-01T00:00:00.000Z',
  }
  const view = {
    play_session_id: ID,
    play_session,
    track_id: ID,
    list: null,
    chapters: [
      { start: 0, title: 'Ebb' },
      { start: SECONDS / 2, title: 'Flood' },
    ],
    chapter_files: null,
    cover_image: { icon: image('icon', 80), small: image('small', 200), regular: image('regular', 400) },
    large_cover: null,
    track: {
      ...track,
      organization_id: ID,
      collection_id: ID,
      file_name: `${title}.wav`,
      metadata: {},
      is_cover_overridable: true,
      is_theme_overridable: true,
      image_colors: [],
      track_status_id: 'ready' as const,
      status: 'ready' as const,
      tags: {},
      is_dark: true,
      is_preliminary: false,
    },
    levels: { levels: levels() },
    // The player replaces the URL before it expires, here after a week.
    variants: [{ path: 'original', url: `/${DEMO_AUDIO}?X-Amz-Expires=604800`, variant: { index: 'original' } }],
    files: [],
  }
  // Without `heard_token`, the player reports nothing.
  return { ok: true, play_session_id: ID, play_session, list: null, tracks: [track], first_track: view, views: [view] }
}

const MARKUP: Record<string, () => string> = {
  player: () =>
    `<tonearm-player play-session-id="${ID}" variants="original" no-memory><script type="application/json">${JSON.stringify(session()).replaceAll('<', '\\u003c')}</script></tonearm-player>`,
  waveform: () =>
    `<audio id="demo-sound" src="/${DEMO_AUDIO}" preload="none" controls aria-label="${title}"></audio><tonearm-waveform for="demo-sound" duration="${SECONDS}" label="Position in ${title}" levels="${escapeHtml(JSON.stringify(levels()))}"></tonearm-waveform>`,
  uploader: () => '<tonearm-uploader manual edit-titles></tonearm-uploader>',
}

const NOTES: Record<string, string> = {
  player: 'The element itself, with a play session in the page.',
  waveform: 'The element itself, with an audio element next to it.',
  uploader: 'The element itself, without a key: it shows files and their titles, but sends nothing.',
}

/** Returns the HTML of a demo; an empty text for another comment. */
export function demoOf(comment: string): string {
  const name = /^<!-- demo: (\w+) -->/.exec(comment)?.[1]
  if (!name) return ''
  if (!MARKUP[name]) throw new Error(`There is no demo ${name} in scripts/build/docs/demo.ts`)
  return `<figure class="demo" data-element="${name}"><div>${MARKUP[name]()}</div><figcaption>${NOTES[name]}</figcaption></figure>\n`
}
