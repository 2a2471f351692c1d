import type { DetailedHTMLProps, HTMLAttributes } from 'react'

import type { Elements, Listeners } from './attributes.ts'

/** Declares the elements for JSX in React 19: `import '@tonearm/elements/react'`. */

type Intrinsic = {
  [N in keyof Elements]: DetailedHTMLProps<HTMLAttributes<Elements[N]['element']>, Elements[N]['element']> &
    Elements[N]['props'] &
    Listeners<Elements[N]['events']>
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements extends Intrinsic {}
  }
}
