import { gatherFiles, hasFiles } from '../shared/gather_files.ts'

interface DropHandlers {
  onFiles: (files: File[]) => void
  /** Called when an image is dropped on a row of the list. */
  onCover: (row: Element, file: File) => void
  canTakeCover: (row: Element) => boolean
  onDrag: (on: boolean) => void
}

/** Accepts files that are dropped on an element. */
export function acceptDrops(root: HTMLElement, { onFiles, onCover, canTakeCover, onDrag }: DropHandlers): void {
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
    const target = rowBelow(event)
    mark(null)
    onDrag(false)
    const [picture] = event.dataTransfer.files
    if (target && picture) onCover(target, picture)
    else void gatherFiles(event.dataTransfer).then(onFiles)
  })
}

/** Whether the user is pasting into an editable field. */
const isWriting = (event: ClipboardEvent) => {
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}

/** Accepts files that are pasted anywhere on the page, unless another handler has accepted them or the user is pasting into an editable field. */
export function acceptPastes(onFiles: (files: File[]) => void, signal: AbortSignal): void {
  const paste = (event: ClipboardEvent) => {
    if (event.defaultPrevented || isWriting(event) || !hasFiles(event.clipboardData)) return
    event.preventDefault()
    void gatherFiles(event.clipboardData).then(onFiles)
  }
  document.addEventListener('paste', paste, { signal })
}

/** Whether the user is dragging a single image. The browser hides its name and content until it is dropped. */
const isOnePicture = ({ items }: DataTransfer) =>
  items.length === 1 && items[0]!.kind === 'file' && items[0]!.type.startsWith('image/')
