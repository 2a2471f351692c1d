/** The files of a drop or a paste, those in dropped folders included, in the order of their names. */
export async function gatherFiles(data: DataTransfer): Promise<File[]> {
  // Only while the event is handled may the items be read.
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
    // A folder is read in portions, until one is empty.
    const portion = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])))
    if (portion.length === 0) break
    entries.push(...portion)
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
  new Promise<File | null>((resolve) => entry.file(resolve, () => resolve(null)))

/** Whether something that is dragged brings files. */
export const hasFiles = (data: DataTransfer | null): data is DataTransfer => data?.types.includes('Files') ?? false

/** Whether it is one picture; its name and bytes are hidden until it is dropped. */
export const isOnePicture = ({ items }: DataTransfer) =>
  items.length === 1 && items[0]!.kind === 'file' && items[0]!.type.startsWith('image/')
