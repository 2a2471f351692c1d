import type { HTMLAttributes } from 'svelte/elements'

import type { Elements, Listeners } from './attributes.ts'

/** Declares the elements for templates in Svelte 5: `import '@tonearm/elements/svelte'`. */

type Attributes<N extends keyof Elements> = Omit<HTMLAttributes<Elements[N]['element']>, keyof Elements[N]['props']> &
  Elements[N]['props'] &
  Listeners<Elements[N]['events']>

declare global {
  namespace svelteHTML {
    interface IntrinsicElements {
      'tonearm-player': Attributes<'tonearm-player'>
      'tonearm-uploader': Attributes<'tonearm-uploader'>
      'tonearm-waveform': Attributes<'tonearm-waveform'>
    }
  }
}
