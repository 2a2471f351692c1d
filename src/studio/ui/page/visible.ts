import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

const seen = new WeakMap<Element, () => void>()
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) seen.get(target)?.()
  },
  { rootMargin: '200px' },
)

/** Returns true once an element has been near the visible part of the page. All rows share one observer. */
export function useVisible<T extends Element>(): [RefObject<T | null>, boolean] {
  const ref = useRef<T>(null)
  const [visible, setVisible] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element || visible) return
    seen.set(element, () => setVisible(true))
    observer.observe(element)
    return () => observer.unobserve(element)
  }, [visible])
  return [ref, visible]
}
