import { useEffect, useRef } from 'preact/hooks'

import type { Reprocess } from '../../base/api.ts'
import { t, tn } from '../../base/text.ts'
import { announce } from '../../ui/page/announce.ts'

interface Properties {
  reprocess: Reprocess | null | undefined
  onDone: () => void
}

const FAILED = {
  one: '{n} track could not be updated; its page shows the reason.',
  other: '{n} tracks could not be updated; their pages show the reason.',
}

/** The progress of an update to the current variants, and its failures. */
export function ReprocessStatus({ reprocess, onDone }: Properties) {
  const ran = useRef(false)
  const running = reprocess?.state === 'running'
  useEffect(() => {
    if (ran.current && !running) {
      announce(t('The tracks are up to date'))
      onDone()
    }
    ran.current = running
  }, [running])
  if (!reprocess || (!running && reprocess.failed === 0)) return null
  const { total, done, failed } = reprocess
  const failures = failed > 0 && tn(FAILED, failed)
  return (
    <div class={`card up-to-date ${failed > 0 ? 'warnings' : ''}`} role="status">
      {running && (
        <>
          <p>
            {t('Updating tracks: {done} of {total}. They can be played in the meantime.', {
              done: done + failed,
              total,
            })}
          </p>
          <progress max={total} value={done + failed} aria-label={t('Tracks updated')} />
        </>
      )}
      {failures && <p>{failures}</p>}
    </div>
  )
}
