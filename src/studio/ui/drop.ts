/** Takes files dropped anywhere on the page; the veil shows that it will. Answers what ends it. */
export function acceptDrops(veil: HTMLElement, onFiles: (files: File[]) => void): () => void {
  const ended = new AbortController()
  const { signal } = ended
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
  // What is being typed there must not be taken away by another page.
  const hasDialog = () => document.querySelector('dialog[open]') !== null
  const show = (shown: boolean) => veil.classList.toggle('shown', shown)
  window.addEventListener(
    'dragover',
    (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      if (hasDialog() && event.dataTransfer) event.dataTransfer.dropEffect = 'none'
      else show(true)
    },
    { signal },
  )
  // Leaving the window has no target to go to; moving between elements has.
  window.addEventListener('dragleave', (event) => event.relatedTarget === null && show(false), { signal })
  window.addEventListener(
    'drop',
    (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      show(false)
      if (!hasDialog()) onFiles([...(event.dataTransfer?.files ?? [])])
    },
    { signal },
  )
  return () => ended.abort()
}
