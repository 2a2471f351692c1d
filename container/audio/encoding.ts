/**
 * Text of tags whose encoding nobody declared, or declared wrongly: ID3v1 and RIFF have only bytes, and programs have long written the
 * machine's own code page into ID3v2 frames that say Latin-1. Told by what the bytes would be in each; what cannot be told is nothing,
 * because wrong letters are worse than none.
 */

const western = new TextDecoder('windows-1252')

const BYTES = new Map(
  Array.from({ length: 256 }, (_, byte) => [western.decode(Uint8Array.of(byte)), byte] as const).concat(
    // As ffmpeg widens Latin-1.
    Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(byte), byte] as const),
  ),
)

/** What capitals with accents would be before a curly quote: letters that hardly anybody writes. */
const ACCIDENTS = /[\u0180-\u0217\u021c-\u036f\u0500-\u05cf\u0700-\u08ff]/

/** UTF-8 that was taken for Latin-1 or Windows-1252, and encoded again; null for any other text. */
function undouble(text: string): string | null {
  const bytes = Array.from(text, (character) => BYTES.get(character))
  if (bytes.includes(undefined)) return null
  const again = decodeAs('utf-8', Uint8Array.from(bytes as number[]))
  return again === null || ACCIDENTS.test(again) ? null : again
}

/** The bytes of a text that ffmpeg has widened as Latin-1; null when it cannot have. */
const narrow = (text: string) => (/^[\0-\xff]*$/.test(text) ? Uint8Array.from(Buffer.from(text, 'latin1')) : null)

const isPlain = (bytes: Uint8Array) => bytes.every((byte) => byte < 0x80)

/** Windows-1251: whole words of Cyrillic, with capitals where words have them. In Latin-1 such letters stand one by one among others. */
function isCyrillic(text: string): boolean {
  const words = (text.match(/[\p{L}]+/gu) ?? []).filter((word) => /[^a-z]/i.test(word))
  const good = words.filter((word) => /^[А-ЯЁЄІЇҐЎ]?[а-яёєіїґў]+$|^[А-ЯЁЄІЇҐЎ]+$/u.test(word))
  const letters = (all: string[]) => all.join('').length
  // Of two letters, words of Latin-1 can be nothing but accents too.
  return good.some(({ length }) => length > 2) && letters(good) >= 0.8 * letters(words)
}

/** Shift-JIS: kana, or kanji that stand together or for themselves, and most of them common ones (leads 0x81 to 0x9F). */
function isJapanese(text: string, bytes: Uint8Array): boolean {
  if (/[\ue000-\uf8ff]/.test(text)) return false
  const runs = text.match(/[\u3000-\u9fff\uff01-\uff5e]+/g) ?? []
  const double = runs.join('').length
  const common = bytes.filter((byte) => byte >= 0x81 && byte <= 0x9f).length
  // A curly quote of Windows-1252 and the letter behind it would be one too.
  const alone = !/[a-z][\u3000-\u9fff]|[\u3000-\u9fff][a-z]/i.test(text) && bytes.some(isTrail)
  return (
    double > 0 && common >= double / 2 && (/[\u3040-\u30ff]/.test(text) || runs.some((run) => run.length > 1) || alone)
  )
}

/** A byte from 0x80 on behind a lead. */
const isTrail = (byte: number, at: number, all: Uint8Array) =>
  byte >= 0x80 && all[at - 1]! >= 0x81 && all[at - 1]! <= 0x9f

const LETTER = 'a-zÀ-ÖØ-öø-ÿŠŽšžŒœŸ'
/** Signs, of which the first are letters in other encodings where they stand between letters. */
const SIGNS = ['ªº¹²³¼½¾µ', '°®©™€£¥¢×÷±'] as const
const NO_WORD = new RegExp(
  `[^\\x21-\\x7e${LETTER}${SIGNS.join('')}]|[${LETTER}][${SIGNS[0]}][${LETTER}]|[^\\x21-\\x7e]{4}`,
  'i',
)

/** Windows-1252: letters with accents among letters without, and signs that stand where signs do. */
function isWestern(text: string): boolean {
  const words = text.match(/[^\s\p{P}]+/gu) ?? []
  return words.every((word) => {
    if (/^[^\p{L}]+$/u.test(word)) return !/\p{Cc}/u.test(word)
    return !NO_WORD.test(word) && (word.length < 3 || /[a-z]/i.test(word))
  })
}

type Encoding = 'utf-8' | 'shift_jis' | 'windows-1251' | 'windows-1252'

/** The last character may be cut in two, as the fields of ID3v1 do. */
function decodeAs(encoding: Encoding, bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
    // A single byte at the end is rather the accent of another encoding.
    return encoding === 'utf-8' && !isPlain(bytes) && !/[^\0-\x7f]/.test(text) ? null : text
  } catch {
    return null
  }
}

/** One encoding for all texts of a file; null when it cannot be told. */
function guess(all: Uint8Array[]): Encoding | null {
  const fits = (encoding: Encoding, judge: (text: string, bytes: Uint8Array) => boolean) => {
    const texts = all.map((bytes) => decodeAs(encoding, bytes))
    if (texts.includes(null)) return false
    return judge(texts.join(' '), Uint8Array.from(all.flatMap((bytes) => [...bytes])))
  }
  if (fits('shift_jis', isJapanese)) return 'shift_jis'
  if (fits('windows-1251', isCyrillic)) return 'windows-1251'
  return fits('windows-1252', isWestern) ? 'windows-1252' : null
}

/**
 * The texts of a file, each given as its bytes; null for what cannot be read as text. `isWidened` says whether ffmpeg may have taken
 * some of them for Latin-1, because frames say so.
 */
export function decodeTexts(all: Uint8Array[], isWidened: boolean): (string | null)[] {
  const read = all.map((bytes) => {
    const text = decodeAs('utf-8', bytes)
    if (text === null) return { bytes, text }
    if (isPlain(bytes)) return { bytes: null, text }
    const single = undouble(text)
    const narrowed = isWidened && single === null ? narrow(text) : null
    return narrowed ? { bytes: narrowed, text: null } : { bytes: null, text: single ?? text }
  })
  const encoding = guess(read.flatMap(({ bytes }) => (bytes ? [bytes] : [])))
  return read.map(({ bytes, text }) => {
    if (!bytes) return text
    if (encoding) return decodeAs(encoding, bytes)
    // One odd comment is not to cost the title.
    const declared = western.decode(bytes)
    return /[a-z]/i.test(declared) && isWestern(declared) ? declared : null
  })
}
