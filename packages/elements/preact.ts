import type { HTMLAttributes } from 'preact'

import type { Elements, Listeners } from './attributes.ts'

/** Declares the elements for JSX in Preact: `import '@tonearm/elements/preact'`. */

type Intrinsic = {
  [N in keyof Elements]: Omit<HTMLAttributes<Elements[N]['element']>, keyof Elements[N]['props']> &
    Elements[N]['props'] &
    Listeners<Elements[N]['events']>
}

declare global {
  namespace preact.JSX {
    interface IntrinsicElements extends Intrinsic {}
  }
}
