import type { Operation, Table } from '../../contract/operation.ts'
import { HEADERS } from '../answer.ts'

/** The type of a file without its parameters, such as `charset`. */
const plain = (type: string) => type.split(';', 1)[0]!.trim()

/**
 * Returns a function that responds with a file, or null for JSON. The header `Accept` of a caller that prefers a file names its type, and does not name
 * JSON before.
 */
export function fileResponse({ csv, files }: Pick<Operation, 'csv' | 'files'>) {
  const formats = new Map<string, (body: never) => string>([
    ...Object.entries(files ?? {}),
    ...(csv ? [['text/csv; charset=utf-8', (body: never) => csvOf(csv(body))] as const] : []),
  ])
  const types = ['application/json', ...formats.keys()]
  return (accept = '', body: object): Response | null => {
    const accepted = accept.toLowerCase().split(',').map(plain)
    const first = accepted.map((each) => types.find((type) => plain(type) === each)).find((type) => type !== undefined)
    const write = formats.get(first ?? '')
    return write ? new Response(write(body as never), { headers: { ...HEADERS, 'content-type': first! } }) : null
  }
}

/** A cell that starts like a formula gets an apostrophe, so that a spreadsheet does not run a title (OWASP, CSV Injection). */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '')
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns a table as CSV (RFC 4180). The first line has the names of the columns. */
function csvOf({ columns, rows }: Table): string {
  const lines = rows.map((row) => columns.map((column) => cell(row[column]!)).join(','))
  return [columns.join(','), ...lines, ''].join('\r\n')
}
