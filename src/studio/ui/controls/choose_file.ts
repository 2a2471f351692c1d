/** Opens the file chooser. Resolves to no files if the user cancels. */
export function chooseFiles(accept: string, multiple = true): Promise<File[]> {
  return new Promise((resolve) => {
    const input = document.createElement('input')
    Object.assign(input, { type: 'file', accept, multiple })
    input.addEventListener('change', () => resolve([...(input.files ?? [])]))
    input.addEventListener('cancel', () => resolve([]))
    input.click()
  })
}

/** Opens the file chooser for one file. Resolves to null if the user cancels. */
export const chooseFile = async (accept: string): Promise<File | null> => (await chooseFiles(accept, false))[0] ?? null
