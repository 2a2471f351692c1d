import { gatherFiles, hasFiles } from '../../../elements/shared/gather_files.ts'
import { t } from '../../base/text.ts'

/** Accepts files and folders that are dropped anywhere on the page, and shows the veil during a drag. Returns a function that ends this. */
export function acceptDrops(veil: HTMLElement, onFiles: (files: File[]) => void): () => void {
  const ended = new AbortController()
  const { signal } = ended
  // While a dialog is open, a drop would leave the page and lose its input.
  const hasDialog = () => document.querySelector('dialog[open]') !== null
  function show(shown: boolean) {
    veil.textContent = t('Drop audio files to upload them')
    veil.classList.toggle('shown', shown)
  }
  window.addEventListener(
    'dragover',
    (event) => {
      if (!hasFiles(event.dataTransfer)) return
      event.preventDefault()
      if (hasDialog()) event.dataTransfer.dropEffect = 'none'
      else show(true)
    },
    { signal },
  )
  // `relatedTarget` is null if the drag leaves the window, but not if it moves between elements.
  window.addEventListener('dragleave', (event) => event.relatedTarget === null && show(false), { signal })
  window.addEventListener(
    'drop',
    (event) => {
      if (!hasFiles(event.dataTransfer)) return
      event.preventDefault()
      show(false)
      if (!hasDialog()) void gatherFiles(event.dataTransfer).then(onFiles)
    },
    { signal },
  )
  return () => ended.abort()
}
