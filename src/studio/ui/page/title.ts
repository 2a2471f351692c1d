import { useEffect } from 'preact/hooks'

/** Sets the title of the browser's tab and history entry. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Tonearm` : 'Tonearm'
  }, [title])
}
