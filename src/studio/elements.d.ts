import type { HTMLAttributes } from 'preact'

/** The elements that index.html loads, as JSX knows them. */

declare global {
  namespace preact.JSX {
    interface IntrinsicElements {
      'tonearm-player': HTMLAttributes<HTMLElement> & {
        'play-session-id': string
        track?: string
        layout?: 'full' | 'compact'
        accent?: string | undefined
        autoplay?: boolean
      }
    }
  }
}
