import { readFile } from 'node:fs/promises'

import type { Plugin } from 'esbuild'
import { parseSync, Visitor } from 'rolldown/utils'

/**
 * Makes the comments of the contract available to the OpenAPI document: a comment (`/** … *\/`) before a property or a constant becomes the
 * description of its schema. Schemas that are extended, picked or spread keep their descriptions, because zod keeps the schemas of the fields.
 */

const HELPER = 'described-schema'

/**
 * In the bundle, this describes a schema. The schema of a constant gets the description itself, and all fields that use it inherit it. A property
 * gets a copy, because others may use the same schema. Values that are no schemas stay as they are.
 */
const DESCRIBE = `import * as z from 'zod'
export const describeConstant = (value, description) => {
  if (value instanceof z.ZodType) z.globalRegistry.add(value, { ...z.globalRegistry.get(value), description })
  return value
}
export const describeProperty = (value, description) => value instanceof z.ZodType ? value.describe(description) : value`

/** Returns the text of a comment on one line, without citations of pages that readers of the API do not have. */
function textOf(comment: string): string {
  return comment
    .replace(/^\*|^\s*\*(?= |$)/gm, '')
    .replace(/\s+/g, ' ')
    .replace(/ \((?:specification §|docs\/decisions\/|src\/)[^)]*\)/g, '')
    .replace(/\bdocs\/([\w-]+)\.md/g, '/docs/$1')
    .trim()
}

interface Span {
  start: number
  end: number
}

/** Wraps each value that has a comment into a call that describes it. */
export function describeValues(path: string, source: string): string {
  const { program, comments } = parseSync(path, source)
  const edits: { at: number; text: string }[] = []
  /** Returns the comment that ends before a node. Only white space and line comments may be between the two. */
  const textBefore = ({ start }: Span): string | undefined => {
    const comment = comments.findLast(({ type, end }) => type === 'Block' && end <= start)
    if (!comment?.value.startsWith('*') || /^\s*[^\s/]/m.test(source.slice(comment.end, start))) return undefined
    return textOf(comment.value)
  }
  const wrap = (call: string, { start, end }: Span, text: string, prefix = '') => {
    edits.push({ at: start, text: `${prefix}${call}(` }, { at: end, text: `, ${JSON.stringify(text)})` })
  }
  new Visitor({
    Property(node) {
      const text = textBefore(node)
      if (text && node.kind === 'init' && !node.method)
        wrap(
          'describeProperty',
          node.value,
          text,
          node.shorthand ? `${source.slice(node.key.start, node.key.end)}: ` : '',
        )
    },
    ArrayExpression({ elements }) {
      for (const element of elements) {
        const text = element && textBefore(element)
        if (text) wrap('describeConstant', element, text)
      }
    },
    VariableDeclaration(node) {
      const [declaration] = node.declarations
      const isExported = source.slice(0, node.start).endsWith('export ')
      const text = textBefore(isExported ? { start: node.start - 'export '.length, end: node.end } : node)
      if (text && declaration?.init) wrap('describeConstant', declaration.init, text)
    },
  }).visit(program)
  const described = edits
    .toSorted((a, b) => b.at - a.at)
    .reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source)
  return `import { describeConstant, describeProperty } from '${HELPER}'\n${described}`
}

/** Adds the comments of `src/contract` to a bundle. */
export const contractComments: Plugin = {
  name: 'contract-comments',
  setup(build) {
    build.onResolve({ filter: RegExp(`^${HELPER}$`) }, () => ({ path: HELPER, namespace: HELPER }))
    build.onLoad({ filter: /.*/, namespace: HELPER }, () => ({ contents: DESCRIBE, resolveDir: import.meta.dirname }))
    build.onLoad({ filter: /\/src\/contract\/\w+\.ts$/ }, async ({ path }) => ({
      contents: describeValues(path, await readFile(path, 'utf8')),
      loader: 'ts',
    }))
  },
}
