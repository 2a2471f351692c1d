/** Removes the invisible marks that reverse the order of characters, because they can disguise the extension of a file. */
export const withoutBidiMarks = (text: string): string => text.replace(/\p{Bidi_Control}/gu, '')

/** Returns a `Content-Disposition` header of type `attachment`, with a file name that every browser understands (RFC 6266, RFC 8187). */
export function attachment(file_name: string): string {
  const name = withoutBidiMarks(file_name)
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
