import type { HTMLAttributes, PublicProps } from 'vue'

import type { Elements } from './attributes.ts'

/** Declares the elements for templates in Vue 3: `import '@tonearm/elements/vue'`. */

/**
 * The type of a boolean attribute. Vue would set the attribute to the text `false`, so `false` is not allowed: omit the attribute, or pass
 * `undefined`.
 */
type Flag = '' | true
/** Converts kebab case to camel case. Vue looks attributes up by their camel-case names, even if the template uses kebab case. */
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
