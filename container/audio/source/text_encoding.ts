/**
 * Decodes tag texts whose encoding is undeclared or declared wrongly: ID3v1 and RIFF store only bytes, and programs have long written the
 * machine's code page into ID3v2 frames that declare Latin-1. The encoding is guessed from the text that the bytes give in each
 * candidate. Undecidable text is dropped, because wrong letters are worse than none.
 */

const western = new TextDecoder('windows-1252')

const BYTES = new Map(
  Array.from({ length: 256 }, (_, byte) => [western.decode(Uint8Array.of(byte)), byte] as const).concat(
    // The way ffmpeg widens Latin-1.
    Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(byte), byte] as const),
  ),
)

/** Misread capitals with accents followed by a curly quote decode to these rare letters. */
const UNLIKELY_LETTERS = /[\u0180-\u0217\u021c-\u036f\u0500-\u05cf\u0700-\u08ff]/

/** Repairs UTF-8 that was read as Latin-1 or Windows-1252 and encoded again; null for any other text. */
function undoDoubleEncoding(text: string): string | null {
  const bytes = Array.from(text, (character) => BYTES.get(character))
  if (bytes.includes(undefined)) return null
  const decoded = decodeAs('utf-8', Uint8Array.from(bytes as number[]))
  return decoded === null || UNLIKELY_LETTERS.test(decoded) ? null : decoded
}

/** The original bytes of a text that ffmpeg widened as Latin-1; null if it contains other characters. */
const toLatin1Bytes = (text: string) =>
  /^[\0-\xff]*$/.test(text) ? Uint8Array.from(Buffer.from(text, 'latin1')) : null

const isAscii = (bytes: Uint8Array) => bytes.every((byte) => byte < 0x80)

/** Windows-1251: full words of Cyrillic, capitalized as words are. Misread Latin-1 gives single Cyrillic letters among others. */
function isCyrillic(text: string): boolean {
  const words = (text.match(/[\p{L}]+/gu) ?? []).filter((word) => /[^a-z]/i.test(word))
  const cyrillic = words.filter((word) => /^[А-ЯЁЄІЇҐЎ]?[а-яёєіїґў]+$|^[А-ЯЁЄІЇҐЎ]+$/u.test(word))
  const countLetters = (all: string[]) => all.join('').length
  // Two-letter words prove nothing: in Latin-1 they can consist of accented letters only.
  return cyrillic.some(({ length }) => length > 2) && countLetters(cyrillic) >= 0.8 * countLetters(words)
}

/** Shift-JIS: kana, or kanji in runs or separate from Latin letters, most of them common (lead bytes 0x81 to 0x9F). */
function isJapanese(text: string, bytes: Uint8Array): boolean {
  if (/[\ue000-\uf8ff]/.test(text)) return false
  const runs = text.match(/[\u3000-\u9fff\uff01-\uff5e]+/g) ?? []
  const wideCount = runs.join('').length
  const common = bytes.filter((byte) => byte >= 0x81 && byte <= 0x9f).length
  // A curly quote of Windows-1252 and the letter after it would also decode to one kanji.
  const isSeparate = !/[a-z][\u3000-\u9fff]|[\u3000-\u9fff][a-z]/i.test(text) && bytes.some(isTrailByte)
  return (
    wideCount > 0 &&
    common >= wideCount / 2 &&
    (/[\u3040-\u30ff]/.test(text) || runs.some((run) => run.length > 1) || isSeparate)
  )
}

/** A byte of 0x80 or more after a lead byte. */
const isTrailByte = (byte: number, at: number, all: Uint8Array) =>
  byte >= 0x80 && all[at - 1]! >= 0x81 && all[at - 1]! <= 0x9f

const LETTER = 'a-zÀ-ÖØ-öø-ÿŠŽšžŒœŸ'
/** Symbols. Between letters, those of the first group are letters of another encoding. */
const SYMBOLS = ['ªº¹²³¼½¾µ', '°®©™€£¥¢×÷±'] as const
const IMPLAUSIBLE_WORD = new RegExp(
  `[^\\x21-\\x7e${LETTER}${SYMBOLS.join('')}]|[${LETTER}][${SYMBOLS[0]}][${LETTER}]|[^\\x21-\\x7e]{4}`,
  'i',
)

/** Windows-1252: accented letters among plain ones, and symbols in plausible positions. */
function isWestern(text: string): boolean {
  const words = text.match(/[^\s\p{P}]+/gu) ?? []
  return words.every((word) => {
    if (/^[^\p{L}]+$/u.test(word)) return !/\p{Cc}/u.test(word)
    return !IMPLAUSIBLE_WORD.test(word) && (word.length < 3 || /[a-z]/i.test(word))
  })
}

type Encoding = 'utf-8' | 'shift_jis' | 'windows-1251' | 'windows-1252'

/** The last character may be cut in two, as in the fixed-size fields of ID3v1. */
function decodeAs(encoding: Encoding, bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
    // An incomplete sequence after plain ASCII is more likely an accent in another encoding.
    return encoding === 'utf-8' && !isAscii(bytes) && !/[^\0-\x7f]/.test(text) ? null : text
  } catch {
    return null
  }
}

/** Picks one encoding for all texts of a file; null if none fits. */
function guess(all: Uint8Array[]): Encoding | null {
  const isPlausible = (encoding: Encoding, test: (text: string, bytes: Uint8Array) => boolean) => {
    const texts = all.map((bytes) => decodeAs(encoding, bytes))
    if (texts.includes(null)) return false
    return test(texts.join(' '), Uint8Array.from(all.flatMap((bytes) => [...bytes])))
  }
  if (isPlausible('shift_jis', isJapanese)) return 'shift_jis'
  if (isPlausible('windows-1251', isCyrillic)) return 'windows-1251'
  return isPlausible('windows-1252', isWestern) ? 'windows-1252' : null
}

/**
 * Decodes the texts of a file from their bytes; null for each that is unreadable. `isWidened`: ffmpeg may have read some as Latin-1,
 * because ID3v2 frames declare it.
 */
export function decodeTexts(all: Uint8Array[], isWidened: boolean): (string | null)[] {
  const candidates = all.map((bytes) => {
    const text = decodeAs('utf-8', bytes)
    if (text === null) return { bytes, text }
    if (isAscii(bytes)) return { bytes: null, text }
    const repaired = undoDoubleEncoding(text)
    const narrowed = isWidened && repaired === null ? toLatin1Bytes(text) : null
    return narrowed ? { bytes: narrowed, text: null } : { bytes: null, text: repaired ?? text }
  })
  const encoding = guess(candidates.flatMap(({ bytes }) => (bytes ? [bytes] : [])))
  return candidates.map(({ bytes, text }) => {
    if (!bytes) return text
    if (encoding) return decodeAs(encoding, bytes)
    // One odd comment should not cost the title.
    const declared = western.decode(bytes)
    return /[a-z]/i.test(declared) && isWestern(declared) ? declared : null
  })
}
