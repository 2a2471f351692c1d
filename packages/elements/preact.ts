import type { HTMLAttributes } from 'preact'

import type { Elements, Listeners } from './attributes.ts'

/** Types of the elements in the JSX of Preact: `import '@tonearm/elements/preact'`. */

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
