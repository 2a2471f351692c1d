import { useEffect, useRef, useState } from 'preact/hooks'

/** Milliseconds after the last keystroke until the search starts. */
const PAUSE = 200

/**
 * Returns the text of a search field, and its setter. `search` is called with the text after a pause. `q` is the current search; the field follows it
 * when something else changes it, such as a link.
 */
export function useSearchField(
  q: string,
  search: (q: string) => void,
): [words: string, onWords: (words: string) => void] {
  const [words, setWords] = useState(q)
  const [latest, timer] = [useRef(q), useRef(0)]
  useEffect(() => {
    if (q === latest.current) return
    latest.current = q
    setWords(q)
  }, [q])
  useEffect(() => () => clearTimeout(timer.current), [])
  function onWords(typed: string) {
    setWords(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => search((latest.current = typed.trim())), PAUSE)
  }
  return [words, onWords]
}

/** The text of a search field, and the query that follows it after a pause. */
export function useSearch() {
  const [q, setQ] = useState('')
  const [words, onWords] = useSearchField(q, setQ)
  return { words, onWords, q, query: q ? { q } : {} }
}
