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

/** Returns the files of a drop or a paste, including those in dropped folders, sorted by name. */
async function gatherFiles(data: DataTransfer): Promise<File[]> {
  // The items can be read only while the event is being handled.
  const sources = [...data.items].map((item) => ({ entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() }))
  const nested = await Promise.all(
    sources.map(async ({ entry, file }) => (entry?.isDirectory ? filesOf(entry as FileSystemDirectoryEntry) : file)),
  )
  return nested.flat().filter((file) => file !== null)
}

async function filesOf(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const reader = folder.createReader()
  const entries: FileSystemEntry[] = []
  for (;;) {
    // `readEntries` returns the entries in batches. An empty batch is the last.
    const batch = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])))
    if (batch.length === 0) break
    entries.push(...batch)
  }
  const visible = entries
    .filter(({ name }) => !name.startsWith('.'))
    .toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
  const files = await Promise.all(
    visible.map((entry) =>
      entry.isDirectory ? filesOf(entry as FileSystemDirectoryEntry) : fileOf(entry as FileSystemFileEntry),
    ),
  )
  return files.flat().filter((file) => file !== null)
}

const fileOf = (entry: FileSystemFileEntry) =>
  new Promise<File | null>((resolve) =>
    entry.file(
      (file) => {
        // The path has the same form as if the user had chosen the folder. `findCovers` uses it to find the cover in the same folder.
        Object.defineProperty(file, 'webkitRelativePath', { value: entry.fullPath.slice(1) })
        resolve(file)
      },
      () => resolve(null),
    ),
  )

/** Whether a drag or a paste contains files. */
const hasFiles = (data: DataTransfer | null): data is DataTransfer => data?.types.includes('Files') ?? false

/** Whether the user is dragging a single image. The browser hides its name and content until it is dropped. */
const isOnePicture = ({ items }: DataTransfer) =>
  items.length === 1 && items[0]!.kind === 'file' && items[0]!.type.startsWith('image/')
