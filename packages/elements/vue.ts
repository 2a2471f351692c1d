import type { HTMLAttributes, PublicProps } from 'vue'

import type { Elements } from './attributes.ts'

/** Types of the elements in the templates of Vue 3: `import '@tonearm/elements/vue'`. */

/** Vue writes `false` as text, so `false` is excluded: omit the attribute, or pass `undefined`. */
type Flag = '' | true
/** Vue checks templates by camel-case names, even if they use kebab case. */
type Camel<S> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S
type Props<T> = { [K in keyof T as Camel<K>]: T[K] }
type Listeners<T> = {
  [N in keyof T & string as `on${Capitalize<Camel<N>>}`]?: ((event: T[N]) => void) | undefined
}

type Component<N extends keyof Elements> = new () => Elements[N]['element'] & {
  $props: HTMLAttributes & PublicProps & Props<Elements<Flag>[N]['props']> & Listeners<Elements[N]['events']>
}

declare module 'vue' {
  interface GlobalComponents {
    'tonearm-player': Component<'tonearm-player'>
    'tonearm-uploader': Component<'tonearm-uploader'>
    'tonearm-waveform': Component<'tonearm-waveform'>
  }
}
