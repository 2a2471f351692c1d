import type { Table } from '../../contract/operation.ts'

/** Whether a caller prefers CSV: the header `Accept` names it, and does not name JSON before. */
export function wantsCsv(accept = ''): boolean {
  const types = accept.toLowerCase().split(',')
  const at = (type: string) => types.findIndex((each) => each.split(';')[0]!.trim() === type)
  const [csv, json] = [at('text/csv'), at('application/json')]
  return csv >= 0 && (json < 0 || csv < json)
}

/** A cell that starts like a formula gets an apostrophe, so that a spreadsheet does not run a title (OWASP, CSV Injection). */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '')
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns a table as CSV (RFC 4180). The first line has the names of the columns. */
export function csvOf({ columns, rows }: Table): string {
  const lines = rows.map((row) => columns.map((column) => cell(row[column]!)).join(','))
  return [columns.join(','), ...lines, ''].join('\r\n')
}
