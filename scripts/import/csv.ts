import { Fault } from '../backup/service.ts'

/** Reads the rows of a CSV file (RFC 4180), whose first line has the names of the columns. They may be separated by commas, semicolons or tabs. */
export function parseCsv(text: string): Record<string, string>[] {
  const [header = ''] = text.split(/\r?\n/, 1)
  const separator = [',', ';', '\t'].toSorted((one, other) => header.split(other).length - header.split(one).length)[0]!
  const [names = [], ...rows] = cellsOf(text, separator)
  const columns = names.map((name) => name.trim().toLowerCase())
  const twice = columns.find((name, at) => columns.indexOf(name) !== at)
  if (twice !== undefined) throw new Fault(`The list has the column "${twice}" twice`)
  return rows
    .filter((row) => row.some((cell) => cell.trim() !== ''))
    .map((row, at) => {
      if (row.slice(columns.length).some((cell) => cell.trim() !== ''))
        throw new Fault(`Item ${at + 1} of the list has more values than the first line has names`)
      return Object.fromEntries(columns.map((name, column) => [name, row[column]?.trim() ?? '']))
    })
}

function cellsOf(text: string, separator: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    let cell: string
    if (text[at] === '"') {
      let end = at + 1
      const parts: string[] = []
      for (;;) {
        const quote = text.indexOf('"', end)
        if (quote < 0) throw new Fault(`Row ${rows.length + 1} of the list has a quotation mark without an end`)
        parts.push(text.slice(end, quote))
        end = quote + 1
        if (text[end] !== '"') break
        parts.push('"')
        end++
      }
      cell = parts.join('')
      at = end
      if (at < text.length && ![separator, '\r', '\n'].includes(text[at]!))
        throw new Fault(`Row ${rows.length + 1} of the list has text after a quotation mark`)
    } else {
      let end = at
      while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end++
      cell = text.slice(at, end)
      at = end
    }
    row.push(cell)
    if (text[at] === separator) {
      at++
      if (at === text.length) row.push('')
      continue
    }
    rows.push(row)
    row = []
    if (text[at] === '\r') at++
    if (text[at] === '\n') at++
  }
  if (row.length > 0) rows.push(row)
  return rows
}
