/** Downloads a file that the service sends with a name. */
export function downloadUrl(url: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}

/** Downloads a text as a file. */
export function downloadText(file_name: string, type: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = file_name
  link.click()
  URL.revokeObjectURL(link.href)
}
