import { readdirSync, readFileSync } from 'node:fs'

import { type ESTree, parseSync, Visitor } from 'vite'

import { keyOf } from '../../src/studio/base/text.ts'

/** Reads the texts of the studio from its sources, and changes the English text in a translation. */

const ROOT = new URL('../../src/studio/', import.meta.url)

export interface StudioTexts {
  /** The English texts, which are the keys of the translations, with the singular of those that have one. */
  texts: Map<string, string | undefined>
  /** Texts that are shown without a translation: file, line and text. */
  untranslated: string[]
}

/** The attributes and properties whose values are shown, or read by screen readers. */
const SHOWN =
  /^(label|title|text|placeholder|alt|hint|note|empty|action|cancel|summary|aria-label|aria-valuetext|data-label)$/
/** The attributes whose values look like texts, but are not. */
const HIDDEN = /^(class|style|key|d)$/
const TRANSLATING = /^(t|tn|text)$/

/** Whether a shown string contains a word. A single word in lower case is an example, such as `mp3-320`. */
const isText = (value: string) => /^\p{Lu}\p{Ll}/u.test(value) || /\p{L}\p{Ll}[,.:;]? \p{L}/u.test(value)
/** Whether any other string is a text: it starts like a sentence, or with a value before the rest of one. */
const isSentence = (value: string) => /^\p{Lu}\p{Ll}+[^<>=]* \p{L}\p{Ll}|^\{\} \p{Ll}{2}/u.test(value)

type Child = ESTree.Node | null | undefined

/** Returns the text of a string or a template, with `{}` for each value in it; null for other expressions. */
function textOf(node: Child): string | null {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '').join('{}')
  return node?.type === 'JSXExpressionContainer' ? textOf(node.expression) : null
}

/** Returns the texts that the argument of `t` can be. */
function choicesOf(node: Child): string[] {
  if (node?.type === 'ConditionalExpression') return [...choicesOf(node.consequent), ...choicesOf(node.alternate)]
  const text = textOf(node)
  return text === null ? [] : [text]
}

const nameOf = (node: Child) =>
  node?.type === 'Identifier' || node?.type === 'JSXIdentifier' ? node.name : (textOf(node) ?? '')

/** Returns the forms of a text with a number, which are the only properties of an object. */
function formsOf({ properties }: ESTree.ObjectExpression) {
  const entries = properties.map((property) =>
    property.type === 'Property' ? [nameOf(property.key), textOf(property.value)] : ['', null],
  )
  const { one, other } = Object.fromEntries(entries) as Record<string, string | null>
  return properties.length === 2 && one && other ? { one, other } : null
}

/** Adds the texts of a source. */
export function readSource(file: string, source: string, { texts, untranslated }: StudioTexts): void {
  /** The number of nodes around the current one whose strings are translated, or not shown. */
  let quiet = 0
  const reported = new Set<number>()
  function check(node: Child, isFound: (value: string) => boolean) {
    const value = node?.type === 'JSXText' ? node.value.trim() : textOf(node)
    if (!node || !value || quiet > 0 || reported.has(node.start) || !isFound(value)) return
    reported.add(node.start)
    untranslated.push(`${file}:${source.slice(0, node.start).split('\n').length} ${value}`)
  }
  const isQuiet = (node: ESTree.CallExpression | ESTree.NewExpression) =>
    TRANSLATING.test(nameOf(node.callee)) || nameOf(node.callee) === 'Error'
  const enter = (isTrue: boolean) => void (quiet += isTrue ? 1 : 0)
  const leave = (isTrue: boolean) => void (quiet -= isTrue ? 1 : 0)
  const visitor = new Visitor({
    CallExpression(node) {
      const name = nameOf(node.callee)
      if (name === 't' || name === 'text') for (const text of choicesOf(node.arguments[0])) texts.set(text, undefined)
      enter(isQuiet(node))
    },
    'CallExpression:exit': (node) => leave(isQuiet(node)),
    NewExpression: (node) => enter(isQuiet(node)),
    'NewExpression:exit': (node) => leave(isQuiet(node)),
    ObjectExpression(node) {
      const forms = formsOf(node)
      if (forms) texts.set(forms.other, forms.one)
      enter(forms !== null)
    },
    'ObjectExpression:exit': (node) => leave(formsOf(node) !== null),
    Property: (node) => SHOWN.test(nameOf(node.key)) && check(node.value, isText),
    JSXAttribute(node) {
      if (SHOWN.test(nameOf(node.name))) check(node.value, isText)
      enter(HIDDEN.test(nameOf(node.name)))
    },
    'JSXAttribute:exit': (node) => leave(HIDDEN.test(nameOf(node.name))),
    JSXText: (node) => check(node, (value) => /\p{L}{2}/u.test(value)),
    Literal: (node) => check(node, isSentence),
    TemplateLiteral: (node) => check(node, isSentence),
  })
  visitor.visit(parseSync(file, source).program)
}

/** Returns the files with an ending, with their contents. */
const filesOf = (ending: RegExp) =>
  readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .toSorted()
    .map((file) => [file, readFileSync(new URL(file, ROOT), 'utf8')] as const)

/** Returns the languages that have translations. */
export const languageFiles = () =>
  filesOf(/^texts\/\w+\.ts$/).map(([file]) => file.slice('texts/'.length, -'.ts'.length))

export const cssFiles = () => filesOf(/\.css$/)

/** Returns the texts of all sources. */
export function readTexts(): StudioTexts {
  const found: StudioTexts = { texts: new Map(), untranslated: [] }
  for (const [file, source] of filesOf(/\.tsx?$/))
    if (!/^(texts|features\/parts)\//.test(file)) readSource(file, source, found)
  return found
}

/** Maps the plural categories that a language uses for the numbers up to 1,000 to these numbers. `other` is enough for 0. */
export function pluralNumbers(locale: string) {
  const rules = new Intl.PluralRules(locale)
  const numbers = Map.groupBy(Array(1001).keys(), (n) => rules.select(n))
  numbers.delete('zero')
  return numbers
}

/**
 * Returns a table of translations in which an English text has another wording; null if the table does not have the text. Punctuation does not count.
 * Throws if it has the new wording already.
 */
export function renameText(source: string, before: string, after: string): string | null {
  const spans: ESTree.Span[] = []
  const visitor = new Visitor({
    Property({ key }) {
      const name = keyOf(nameOf(key) ?? '')
      if (name === keyOf(before)) spans.push(key)
      else if (name === keyOf(after)) throw new Error(`There is a translation of "${after}" already`)
    },
  })
  visitor.visit(parseSync('texts.ts', source).program)
  if (spans.length === 0) return null
  return spans.reduceRight(
    (text, { start, end }) => text.slice(0, start) + JSON.stringify(after) + text.slice(end),
    source,
  )
}
