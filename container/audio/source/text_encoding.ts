/**
 * Decodes tags whose encoding is unknown or declared wrongly: ID3v1 and RIFF do not declare an encoding, and many programs write text in
 * the code page of the machine into ID3v2 frames that declare Latin-1. The encoding is guessed: the bytes are decoded with each candidate,
 * and the result must look like a text in that language. If no candidate fits, the text is dropped, because wrong letters are worse than
 * none.
 */

const western = new TextDecoder('windows-1252')

const BYTES = new Map(
  Array.from({ length: 256 }, (_, byte) => [western.decode(Uint8Array.of(byte)), byte] as const).concat(
    // ffmpeg maps each byte of Latin-1 to the character with the same number.
    Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(byte), byte] as const),
  ),
)

/** An accented capital letter before a curly quote in Windows-1252 has the bytes of one of these rare letters in UTF-8. */
const UNLIKELY_LETTERS = /[\u0180-\u0217\u021c-\u036f\u0500-\u05cf\u0700-\u08ff]/

/** Repairs UTF-8 that was decoded as Latin-1 or Windows-1252 and encoded again. Returns null for any other text. */
function undoDoubleEncoding(text: string): string | null {
  const bytes = Array.from(text, (character) => BYTES.get(character))
  if (bytes.includes(undefined)) return null
  const decoded = decodeAs('utf-8', Uint8Array.from(bytes as number[]))
  return decoded === null || UNLIKELY_LETTERS.test(decoded) ? null : decoded
}

/** Returns the original bytes of a text that ffmpeg decoded as Latin-1. Returns null if the text contains other characters. */
const toLatin1Bytes = (text: string) =>
  /^[\0-\xff]*$/.test(text) ? Uint8Array.from(Buffer.from(text, 'latin1')) : null

const isAscii = (bytes: Uint8Array) => bytes.every((byte) => byte < 0x80)

/**
 * Whether a text decoded as Windows-1251 looks plausible: it must contain whole Cyrillic words with normal capitalization. Latin-1 that is
 * decoded as Windows-1251 contains single Cyrillic letters between Latin letters.
 */
function isCyrillic(text: string): boolean {
  const words = (text.match(/[\p{L}]+/gu) ?? []).filter((word) => /[^a-z]/i.test(word))
  const cyrillic = words.filter((word) => /^[А-ЯЁЄІЇҐЎ]?[а-яёєіїґў]+$|^[А-ЯЁЄІЇҐЎ]+$/u.test(word))
  const countLetters = (all: string[]) => all.join('').length
  // Words of two letters are not sufficient, because both letters could be accented letters in Latin-1.
  return cyrillic.some(({ length }) => length > 2) && countLetters(cyrillic) >= 0.8 * countLetters(words)
}

/**
 * Whether a text decoded as Shift-JIS looks plausible: it must contain kana, or kanji that are in runs or separate from Latin letters. At
 * least half of the characters must be common (lead bytes 0x81 to 0x9F).
 */
function isJapanese(text: string, bytes: Uint8Array): boolean {
  if (/[\ue000-\uf8ff]/.test(text)) return false
  const runs = text.match(/[\u3000-\u9fff\uff01-\uff5e]+/g) ?? []
  const wideCount = runs.join('').length
  const common = bytes.filter((byte) => byte >= 0x81 && byte <= 0x9f).length
  // Kanji next to a Latin letter are not sufficient, because a curly quote in Windows-1252 and the letter after it also decode to one
  // kanji.
  const isSeparate = !/[a-z][\u3000-\u9fff]|[\u3000-\u9fff][a-z]/i.test(text) && bytes.some(isTrailByte)
  return (
    wideCount > 0 &&
    common >= wideCount / 2 &&
    (/[\u3040-\u30ff]/.test(text) || runs.some((run) => run.length > 1) || isSeparate)
  )
}

/** Whether a byte is 0x80 or more and follows a lead byte. */
const isTrailByte = (byte: number, at: number, all: Uint8Array) =>
  byte >= 0x80 && all[at - 1]! >= 0x81 && all[at - 1]! <= 0x9f

const LETTER = 'a-zÀ-ÖØ-öø-ÿŠŽšžŒœŸ'
/** Symbols in Windows-1252. A symbol of the first group between two letters is a letter in another encoding. */
const SYMBOLS = ['ªº¹²³¼½¾µ', '°®©™€£¥¢×÷±'] as const
const IMPLAUSIBLE_WORD = new RegExp(
  `[^\\x21-\\x7e${LETTER}${SYMBOLS.join('')}]|[${LETTER}][${SYMBOLS[0]}][${LETTER}]|[^\\x21-\\x7e]{4}`,
  'i',
)

/**
 * Whether a text decoded as Windows-1252 looks plausible: accented letters must be mixed with plain letters, and symbols must be in
 * plausible positions.
 */
function isWestern(text: string): boolean {
  const words = text.match(/[^\s\p{P}]+/gu) ?? []
  return words.every((word) => {
    if (/^[^\p{L}]+$/u.test(word)) return !/\p{Cc}/u.test(word)
    return !IMPLAUSIBLE_WORD.test(word) && (word.length < 3 || /[a-z]/i.test(word))
  })
}

type Encoding = 'utf-8' | 'shift_jis' | 'windows-1251' | 'windows-1252'

/** Decodes bytes, or returns null if they are invalid. The last character may be incomplete, because fields of ID3v1 have a fixed size. */
function decodeAs(encoding: Encoding, bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
    // An incomplete UTF-8 sequence after plain ASCII is more likely to be an accented letter in another encoding.
    return encoding === 'utf-8' && !isAscii(bytes) && !/[^\0-\x7f]/.test(text) ? null : text
  } catch {
    return null
  }
}

/** Selects one encoding for all texts of a file. Returns null if no encoding fits. */
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
 * Decodes the texts of a file from their bytes. The result has null for each text that cannot be decoded. `isWidened` means that ffmpeg may
 * have decoded some of the texts as Latin-1, because their ID3v2 frames declare it.
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
    // If the texts have no common encoding, each is decoded separately, so that one unusual comment does not affect the title.
    const declared = western.decode(bytes)
    return /[a-z]/i.test(declared) && isWestern(declared) ? declared : null
  })
}
