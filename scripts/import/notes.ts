import { decodeHTML } from 'entities'

import { severalLines } from '../../src/contract/text.ts'

/**
 * Converts the HTML of a feed's notes to the texts of episodes and shares: paragraphs, `**strong**`, `*emphasis*` and links (src/http/pages/share_text.ts).
 * It reads every character once, because notes may be anything.
 */

/** Elements that start a new paragraph, and those whose content is no text. */
const BLOCKS = /^(p|div|h[1-6]|ul|ol|dl|blockquote|pre|section|article|header|footer|table|tr|figure|hr)$/
const HIDDEN = /^(script|style|head|title|template|svg|noscript|iframe)$/
const HEADINGS = /^h[1-6]$/
/** The start of an item of a list. */
const ITEM = '\n- '
/** Characters of HTML that are read of one text. */
const MAX_HTML = 200_000

interface Style {
  strong: number
  em: number
  href: string
}

/** Returns a piece of text with its marks. Marks cannot be nested, so a link has no others. */
function marked(text: string, { strong, em, href }: Style): string {
  if (href) return `[${text.replaceAll('[', '(').replaceAll(']', ')')}](${href})`
  if (text.includes('*') || (!strong && !em)) return text
  return strong ? `**${text}**` : `*${text}*`
}

/** Returns a link as the texts accept it; empty for other addresses. */
function linkOf(attributes: string): string {
  const [, , doubled, single, bare] = /\s(href)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? []
  const address = decodeHTML(doubled ?? single ?? bare ?? '').trim()
  if (!/^(https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return ''
  return new URL(address).href.replaceAll('(', '%28').replaceAll(')', '%29')
}

/** Writes a text by its pieces. White space is collapsed as browsers do it. */
class Writer {
  readonly #parts: string[] = []
  #piece = ''
  #style: Style = { strong: 0, em: 0, href: '' }
  /** Whether the text so far ends with a line break, or is empty. */
  #isAtStart = true
  /** Whether a space follows, unless the line ends. */
  #isSpaced = false

  get style(): Style {
    return this.#style
  }

  change(change: Partial<Style>): void {
    this.#flush()
    this.#style = { ...this.#style, ...change }
  }

  add(text: string): void {
    this.#piece += text
  }

  /** Ends the line. Marks do not continue on the next one. */
  break(lines: string): void {
    this.#flush()
    this.#parts.push(this.#isAtStart && lines === ITEM ? ITEM.trimStart() : lines)
    this.#isAtStart = true
    this.#isSpaced = false
  }

  end(): string {
    this.#flush()
    return this.#parts.join('')
  }

  #flush(): void {
    const text = this.#piece.replace(/\s+/g, ' ')
    this.#piece = ''
    if (text === '') return
    this.#isSpaced ||= text.startsWith(' ')
    const inner = text.trim()
    if (inner === '') return
    this.#parts.push(this.#isSpaced && !this.#isAtStart ? ' ' : '', marked(inner, this.#style))
    this.#isAtStart = false
    this.#isSpaced = text.endsWith(' ')
  }
}

function writeTag(writer: Writer, name: string, isEnd: boolean, attributes: string): void {
  const step = isEnd ? -1 : 1
  const { strong, em } = writer.style
  if (name === 'br') writer.break('\n')
  else if (name === 'li') writer.break(isEnd ? '\n' : ITEM)
  else if (BLOCKS.test(name)) writer.break('\n\n')
  if (name === 'strong' || name === 'b' || HEADINGS.test(name)) writer.change({ strong: Math.max(0, strong + step) })
  else if (name === 'em' || name === 'i') writer.change({ em: Math.max(0, em + step) })
  else if (name === 'a') writer.change({ href: isEnd ? '' : linkOf(attributes) })
}

function convert(html: string): string {
  const writer = new Writer()
  const lower = html.toLowerCase()
  for (let at = 0; at < html.length;) {
    const start = html.indexOf('<', at)
    if (start < 0) {
      writer.add(decodeHTML(html.slice(at)))
      break
    }
    writer.add(decodeHTML(html.slice(at, start)))
    const isComment = html.startsWith('<!--', start)
    const end = html.indexOf(isComment ? '-->' : '>', start)
    const [, slash, name] = /^<(\/?)([a-z][a-z\d]*)/i.exec(html.slice(start, start + 40)) ?? []
    if (end < 0 || (!isComment && name === undefined && !/^<[!?/]/.test(html.slice(start, start + 2)))) {
      writer.add('<')
      at = start + 1
      // Without another end, every further start would search the whole rest.
      if (end < 0) {
        writer.add(decodeHTML(html.slice(at)))
        break
      }
      continue
    }
    at = end + (isComment ? 3 : 1)
    if (name === undefined || isComment) continue
    const tag = name.toLowerCase()
    if (HIDDEN.test(tag) && !slash) {
      const close = lower.indexOf(`</${tag}`, at)
      at = close < 0 ? html.length : close
    } else writeTag(writer, tag, slash === '/', html.slice(start + 1 + name.length, Math.min(end, start + 4096)))
  }
  return writer.end()
}

/** Returns notes, which may be HTML or plain text, as the text of an episode or a share. */
export function notesOf(html: string): string {
  const input = html.slice(0, MAX_HTML)
  const text = /<[a-z!/]/i.test(input) && input.includes('>') ? convert(input) : decodeHTML(input)
  return severalLines(text)
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
}

/** Returns a text without its end, if it is too long. No character is split. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  const cut = text.slice(0, length - 1)
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`
}
