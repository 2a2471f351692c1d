import { useEffect, useState } from 'preact/hooks'

import { setQuery } from '../../base/route.ts'

/** Milliseconds after the last keystroke until the address changes. Browsers limit how often it may. */
const PAUSE = 200

/** The text of a search field, which is `q` in the address after a pause. */
export function useQueryField(q: string): [words: string, onWords: (words: string) => void] {
  const [words, setWords] = useState(q)
  useEffect(() => setWords(q), [q])
  useEffect(() => {
    if (words.trim() === q) return undefined
    const timer = setTimeout(() => setQuery({ q: words.trim() }), PAUSE)
    return () => clearTimeout(timer)
  }, [words])
  return [words, setWords]
}
