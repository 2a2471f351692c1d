import { useEffect, useState } from 'preact/hooks'

/** Milliseconds without a keystroke after which words count as complete. */
const PAUSE = 200

/** What somebody types into a search, and what is asked for once they pause. */
export function useSearch() {
  const [words, onWords] = useState('')
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words.trim()), PAUSE)
    return () => clearTimeout(timer)
  }, [words])
  return { words, onWords, q: settled, query: settled ? { q: settled } : {} }
}
