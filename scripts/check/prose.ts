import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * `node scripts/check/prose.ts [directory] [path…]`: rejects comments, test titles, and Markdown whose syntax sounds translated. The rules
 * are tuned with honojs/hono and supabase/storage: they report no fault in the 11,290 blocks of these projects.
 */

const [directory = '.', ...only] = process.argv.slice(2)
/** Paths of files that are not checked. */
const SKIPPED = /^(docs\/specification\.md|CHANGELOG\.md|drizzle\/)/

/** Each advice with the pattern of the phrases that it replaces. */
const RULES: Record<string, RegExp> = {
  'name the person or program: the caller, the owner':
    /(?<=^|[.;:] )(who|whose)\b(?![^.;:]*\?)|\b(for|by|while|than|from|to|as|with|but) who\b|\bwhoever\b/gi,
  'name the thing: the request, the result': /\b(for|while|than|as|but) what\b(?! (if|about|kind))/gi,
  'write again, next to, or in addition to': /\b(anew|beside|half-way)\b/gi,
  'write notify, report, return, or specify':
    /\b(told|tells)\b(?![^.;]* apart\b)|\b(hears? of|heard of|says? of itself)\b/gi,
  'write is, is stored, or is at':
    /\b(lies|stands|stood)\b(?! (in for|for|out|alone))|\b(lie|stand) (in(?! for)|on|at|there|below|under|behind)\b|\b(where|which)\b[^.;,]* (lie|stand)\b/gi,
  'write must, should, or will':
    /(?<!\b(this|aim|alternative|goal|idea|job|point|purpose|solution|way) )\b(is|are|was|were) to (?=[a-z])/gi,
  'negate the verb: is not a …, has no …': /(?<!\bthere )\b(is|are|was|were|be|as) none\b/gi,
  'state the limit or the condition':
    /(?<=^|[.;:] )so (many|long)\b|\bso (many|long) as\b|\b(as good as|all the same|for good|in vain|up to now|ever (more|less)|each further)\b/gi,
  'write instead of': /\bin place of\b/gi,
  'start with the subject': /(?<=^|[.;:] )(Of|Beside|In place) (a|an|the|what|these|each|who|those|it|all|others)\b/g,
  'write start': /\b(begun|began)\b/gi,
  'delete it, or write "also" before the verb': /, too\b(?! [a-z])/gi,
  'write checks, reads, or polls': /\b(looks?|looked) (no more|at (what|who|it|them))\b/gi,
  'write no caller, another request, any worker': /\b(somebody|nobody|anybody)\b/gi,
}
/** Stricter rules for comments and test titles. Pages for users may contain phrases such as "what happened" or "a page of its own". */
const CODE_RULES: Record<string, RegExp> = {
  ...RULES,
  'name the thing: the request, the rows':
    /(?<=^|[.;:,] )what (?!if|about|happens|to |(it|you|they) \w+$)(?![^.;:]*\?)|(?<!\b(which|who|how|where|why)\b.*)\band what\b/gi,
  'name the caller or the thing': /\b(and|or|of) who\b|\b(of|by|from|to|with|in) what\b(?! (if|about|kind))/gi,
  'write "also" before the verb': /\balso (when|if|by|of|where|while|after)\b/gi,
  'write report, return, or distinguish': /\btell\b(?![^.;]* (apart|from)\b)/gi,
  'write a separate …, or its …':
    /\bof (its|their|his) own\b(?! [a-z]+(?<! (and|at|for|if|in|once|or|that|to|when|which|with))\b)/gi,
  'write starts': /\b(begins|to begin)\b/gi,
}

interface Block {
  line: number
  text: string
}

function markOf(path: string): string | undefined {
  return /\.(tsx?|m?js|css)$/.test(path)
    ? '//'
    : /\.(sh|toml|yml)$|Dockerfile$|^\.ci\//.test(path)
      ? '#'
      : path.endsWith('.sql')
        ? '--'
        : undefined
}
const TITLE =
  /^\s*(?:test|it|describe)\b(?:\.\w+)*(?:\([^'"`\n]*\))?\(\s*(?:'((?:[^'\\\n]|\\.)*)'|`([^`]*)`|"([^"\n]*)")|^\s*\]\)\('((?:[^'\\\n]|\\.)*)'/gm

/** Returns the comments of a file, in which consecutive lines are joined, and its test titles. */
function codeBlocks(text: string, mark: string): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  let inside = false
  for (const [i, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    const starts: boolean = !inside && mark !== '#' && mark !== '--' && trimmed.startsWith('/*')
    const full = starts || inside || trimmed.startsWith(mark)
    const trailing = full ? -1 : line.search(new RegExp(`(?<=\\s)${mark}+ (?=[^'"\`]*$)`))
    if (!full && trailing < 0) open = undefined
    else {
      const words = full
        ? trimmed.replace(/^(\/\*+|\*+\/?|\/\/+|--+|#+)|\*+\/$/g, '')
        : line.slice(trailing).replace(/^\S+/, '')
      // A JSDoc tag, an empty line, or a trailing comment starts a new block.
      const joins = open && !starts && full && words.trim() !== '' && !/^\s*(@|- |\* |\d+\. )/.test(words)
      if (joins) open!.text += `\n${words.trim()}`
      else blocks.push((open = { line: i + 1, text: words.trim() }))
      if (trailing >= 0) open = undefined
    }
    if (starts || inside) {
      inside = !trimmed.includes('*/', starts ? 2 : 0)
      if (!inside) open = undefined
    }
  }
  for (const match of text.matchAll(TITLE)) {
    const at = match.index + match[0].search(/\S/)
    blocks.push({ line: text.slice(0, at).split('\n').length, text: match.slice(1).find(Boolean) ?? '' })
  }
  return blocks
}

const keepLines = (found: string) => found.replace(/[^\n]/g, '')
/** Returns the paragraphs, list items and table cells of a page, without headings, code, tags, and the targets of links. */
function pageBlocks(text: string): Block[] {
  const prose = text.replace(/^ *(```|~~~)[^]*?^ *\1|<!--[^]*?-->|<[^>]*>/gm, keepLines).replace(/\]\([^)\s]*\)/g, ']')
  const blocks: Block[] = []
  let open = false
  for (const [i, line] of prose.split('\n').entries()) {
    const content = line.replace(/^\s*((#+|[-*>+]|\d+\.) )?\s*/, '')
    const words = content.replaceAll(/\*+|(?<!\w)_+|_+(?!\w)/g, '')
    if (open && words && content === line.trim() && !words.startsWith('|')) blocks.at(-1)!.text += `\n${words}`
    else if (words.startsWith('|'))
      blocks.push(...words.split('|').map((cell) => ({ line: i + 1, text: `| ${cell.trim()}` })))
    else if (!line.startsWith('#')) blocks.push({ line: i + 1, text: words })
    open = words !== '' && !words.startsWith('|') && !line.startsWith('#')
  }
  return blocks
}

const tracked = execFileSync('git', ['-C', directory, 'ls-files', '-co', '--exclude-standard', '--', ...only], {
  encoding: 'utf8',
})
let count = 0
const faults: string[] = []
for (const path of tracked.split('\n').filter((file) => !SKIPPED.test(file) && existsSync(join(directory, file)))) {
  const mark = markOf(path)
  if (!mark && !path.endsWith('.md')) continue
  const text = readFileSync(join(directory, path), 'utf8')
  for (const block of mark ? codeBlocks(text, mark) : pageBlocks(text)) {
    const prose = block.text
      .replace(/`[^`]*`|"[^"]*"|“[^”]*”/g, (code) => code.replace(/[^\n]/g, 'x'))
      .replaceAll('\n', ' ')
    if (prose.split(' ').length < 2) continue
    count++
    for (const [hint, pattern] of Object.entries(mark ? CODE_RULES : RULES))
      for (const { 0: found, index } of prose.matchAll(pattern)) {
        const line = block.line + block.text.slice(0, index).split('\n').length - 1
        faults.push(`${path}:${line}: "${found.trim()}": ${hint}`)
      }
  }
}
for (const fault of faults) console.error(fault)
console.log(`${count} blocks of prose, ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
