/**
 * Copies a text to the clipboard. Resolves to false if the browser refuses, or without https, which the clipboard requires. Safari only allows a copy
 * that starts with the click, so a text that is still being requested is passed as a promise.
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  const blob = typeof text === 'string' ? null : asBlob(text)
  // The clipboard may refuse before the text is rejected.
  blob?.catch(() => {})
  try {
    if (typeof text === 'string') await navigator.clipboard.writeText(text)
    else await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob! })])
    return true
  } catch {
    return false
  }
}

const asBlob = async (text: Promise<string>) => new Blob([await text], { type: 'text/plain' })
