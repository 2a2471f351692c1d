import { gatherFiles, hasFiles, isOnePicture } from './gather.ts'

interface Takers {
  onFiles: (files: File[]) => void
  /** A picture on a row of the list is that file's cover. */
  onCover: (row: Element, file: File) => void
  canTakeCover: (row: Element) => boolean
  onDrag: (on: boolean) => void
}

/** Takes files that are dropped on an element. */
export function acceptDrops(root: HTMLElement, { onFiles, onCover, canTakeCover, onDrag }: Takers): void {
  let row: Element | null = null
  const mark = (next: Element | null) => {
    if (next === row) return
    row?.classList.remove('cover-target')
    next?.classList.add('cover-target')
    row = next
  }
  const rowBelow = ({ target, dataTransfer }: DragEvent) => {
    const found = dataTransfer && isOnePicture(dataTransfer) ? (target as Element).closest('li') : null
    return found && canTakeCover(found) ? found : null
  }

  root.addEventListener('dragover', (event) => {
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
    mark(rowBelow(event))
    onDrag(row === null)
  })
  root.addEventListener('dragleave', (event) => {
    if (event.relatedTarget instanceof Node && root.contains(event.relatedTarget)) return
    mark(null)
    onDrag(false)
  })
  root.addEventListener('drop', (event) => {
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    const on = rowBelow(event)
    mark(null)
    onDrag(false)
    const [picture] = event.dataTransfer.files
    if (on && picture) onCover(on, picture)
    else void gatherFiles(event.dataTransfer).then(onFiles)
  })
}

/** Whether a paste belongs to the page: somebody is writing there. */
const isWriting = (event: ClipboardEvent) => {
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}

/** Takes files that are pasted anywhere on the page, unless somebody else does. */
export function acceptPastes(onFiles: (files: File[]) => void, signal: AbortSignal): void {
  const paste = (event: ClipboardEvent) => {
    if (event.defaultPrevented || isWriting(event) || !hasFiles(event.clipboardData)) return
    event.preventDefault()
    void gatherFiles(event.clipboardData).then(onFiles)
  }
  document.addEventListener('paste', paste, { signal })
}
