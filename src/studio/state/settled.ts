import { useEffect, useState } from 'preact/hooks'

/** Milliseconds without a key in which words are taken to be whole. */
const PAUSE = 200

/** What somebody types, once they pause. */
export function useSettled(words: string): string {
  const [settled, setSettled] = useState(words)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), PAUSE)
    return () => clearTimeout(timer)
  }, [words])
  return settled.trim()
}
