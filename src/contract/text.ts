/**
 * Detection and normalization of text. This file must not import zod, because the uploader in the browser applies the same rules as the transcoder.
 */

/**
 * Returns a text on one line. Line breaks and tabs become spaces. Control characters, direction overrides (U+202A to U+202E), which reverse the text
 * after them, and white space at both ends are removed.
 */
export const oneLine = (text: string): string =>
  text
    .replace(/[\t-\r\u0085\u2028\u2029]+/g, ' ')
    .replace(/[\p{Cc}\u202a-\u202e]/gu, '')
    .trim()

/** Returns a text with `\n` for its line breaks, without the characters that `oneLine` removes and without white space at both ends. */
export const severalLines = (text: string): string =>
  text
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(/(?!\n)[\p{Cc}\u202a-\u202e]/gu, '')
    .trim()

/** Number of bytes to check at the start of a file. Some audio formats start with a whole kilobyte of text (NIST SPHERE). */
export const HEAD_BYTES = 4096

/** Whether the head of a file contains only text. In every audio format, the text at the start is shorter than the head. */
export function isText(head: Uint8Array): boolean {
  const [a, b] = head
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff))
    return isUtf16(head, a === 0xff ? 'utf-16le' : 'utf-16be')
  return head.every((byte) => byte >= 0x20 || byte === 9 || byte === 10 || byte === 12 || byte === 13)
}

/** MPEG audio can start with the same two bytes as UTF-16, but the bytes after them are not valid text. */
function isUtf16(head: Uint8Array, encoding: string): boolean {
  try {
    // With `stream`, the last character may be incomplete.
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(head, { stream: true })
    // oxlint-disable-next-line no-control-regex -- characters that do not occur in text
    return !/[\0-\x08\x0b\x0e-\x1f\ufffe\uffff]/.test(text)
  } catch {
    return false
  }
}

/** The scripts that are written from right to left (https://www.w3.org/International/questions/qa-scripts). */
export const RIGHT_TO_LEFT = ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']

/** Returns the direction of a language. Not every browser has `Intl.Locale.getTextInfo`, so the direction follows from the script. */
export const textDirection = (locale: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.includes(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'
