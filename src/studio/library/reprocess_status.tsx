import { useEffect, useRef } from 'preact/hooks'

import type { Reprocess } from '../api.ts'
import { plural } from '../format.ts'
import { announce } from '../ui/announce.ts'

interface Properties {
  reprocess: Reprocess | null | undefined
  onDone: () => void
}

/** The progress of an update to the current variants, and its failures. */
export function ReprocessStatus({ reprocess, onDone }: Properties) {
  const ran = useRef(false)
  const running = reprocess?.state === 'running'
  useEffect(() => {
    if (ran.current && !running) {
      announce('The tracks are up to date')
      onDone()
    }
    ran.current = running
  }, [running])
  if (!reprocess || (!running && reprocess.failed === 0)) return null
  const { total, done, failed } = reprocess
  const failures = failed > 0 && `${plural(failed, 'track')} could not be updated; their pages show the reason.`
  return (
    <div class={`card up-to-date ${failed > 0 ? 'warnings' : ''}`} role="status">
      {running && (
        <>
          <p>
            Updating tracks: {done + failed} of {total}. They can be played in the meantime.
          </p>
          <progress max={total} value={done + failed} aria-label="Tracks updated" />
        </>
      )}
      {failures && <p>{failures}</p>}
    </div>
  )
}
