import { useState } from 'preact/hooks'

let count = 0

/** Returns an id for elements of the page. `useId` would repeat the ids of the page in a dialog with its own root. */
export const useUniqueId = () => useState(() => `id-${++count}`)[0]
