import { useRef, useState } from 'preact/hooks'

import { joined, length } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { lazyPage } from '../../ui/page/lazy_page.tsx'
import { useSummary } from './use_summary.ts'

const UploadTray = lazyPage(async () => (await import('./upload_tray.tsx')).UploadTray, null)

/** The button in the bar of every page that says how far uploads are, and opens the tray. It is hidden while there are none. */
export function UploadPill() {
  const { working, waiting, failed, ready, seconds } = useSummary()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const isBusy = working + waiting > 0
  if (!isBusy && failed + ready === 0 && !isOpen) return null
  const parts = [
    failed > 0 && tn({ one: '{n} failed', other: '{n} failed' }, failed),
    working > 0 && tn({ one: '{n} working', other: '{n} working' }, working),
    waiting > 0 && tn({ one: '{n} waiting', other: '{n} waiting' }, waiting),
    !isBusy && ready > 0 && tn({ one: '{n} ready', other: '{n} ready' }, ready),
    isBusy && seconds !== null && length(seconds),
  ]
  return (
    <div class="uploads">
      <button
        ref={button}
        type="button"
        class={failed > 0 ? 'upload-pill failed' : 'upload-pill'}
        aria-expanded={isOpen}
        title={t('Uploads')}
        onClick={() => setOpen(!isOpen)}
      >
        {joined(parts) || t('Uploads')}
      </button>
      {isOpen && (
        <UploadTray
          onClose={() => {
            setOpen(false)
            button.current?.focus()
          }}
        />
      )}
    </div>
  )
}
