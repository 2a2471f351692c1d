import { useEffect } from 'preact/hooks'

/** The name of what is shown, in the browser's tab and history. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Tonearm` : 'Tonearm'
  }, [title])
}
