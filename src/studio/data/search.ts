import { useEffect, useState } from 'preact/hooks'

/** Milliseconds after the last keystroke until the search starts. */
const PAUSE = 200

/** The text of a search field, and the query that follows it after a pause. */
export function useSearch() {
  const [words, onWords] = useState('')
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words.trim()), PAUSE)
    return () => clearTimeout(timer)
  }, [words])
  return { words, onWords, q: settled, query: settled ? { q: settled } : {} }
}
