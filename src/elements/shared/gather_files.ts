/** The files of drops and pastes, in the uploader and the studio. */

/** Whether a drag or a paste contains files. */
export const hasFiles = (data: DataTransfer | null): data is DataTransfer => data?.types.includes('Files') ?? false

/** Returns the files of a drop or a paste, including those in dropped folders, sorted by name. */
export async function gatherFiles(data: DataTransfer): Promise<File[]> {
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
