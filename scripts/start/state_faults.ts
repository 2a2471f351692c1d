/** Explains faults of the database in a STATE_DIR, each with its remedy. */

const startOver = (directory: string, suffix: string) =>
  `start over and keep the old one: mv ${directory} ${directory}.${suffix}`

/** The fault of a database that other migrations created. */
export const outdatedDatabase = (directory: string): string =>
  `The database of STATE_DIR was created by other migrations: ${directory}/v3/d1.
This version cannot update it, so ${startOver(directory, 'old')}`

const REMEDIES: [pattern: RegExp, remedy: (directory: string) => string][] = [
  [
    /SQLITE_(NOTADB|CORRUPT)|not a database|malformed/,
    (directory) =>
      `is damaged: ${directory}/v3/d1.
Put back a copy of the whole directory, or ${startOver(directory, 'damaged')}`,
  ],
  [
    /SQLITE_BUSY|database is locked/,
    (directory) =>
      `is locked by another program: ${directory}/v3/d1.
End what has it open (a shell of sqlite3, a backup, a wrangler): lsof +D ${directory}/v3/d1`,
  ],
  [
    /SQLITE_FULL|disk is full|ENOSPC|no space left/i,
    (directory) => `has no room: ${directory}.\nMake room on its disk, then start again.`,
  ],
  [
    /SQLITE_(READONLY|CANTOPEN|IOERR|PERM)|readonly database|unable to open database|EACCES|EROFS|EPERM/,
    (directory) =>
      `cannot be written: ${directory}/v3/d1.\nWhose is it, and may you write there? ls -ld ${directory} ${directory}/v3/d1`,
  ],
]

/** Returns an explanation why the database could not be migrated, based on wrangler's output. */
export function explainDatabaseFault(directory: string, tail: string[]): string {
  const text = tail.join('\n')
  const remedy = REMEDIES.find(([pattern]) => pattern.test(text))?.[1]
  if (!remedy) return `The database cannot be brought up to date:\n\n${text}`
  const reason = tail.find((line) => REMEDIES.some(([pattern]) => pattern.test(line)))?.trim()
  return `The database of STATE_DIR ${remedy(directory)}\n\n${reason}`
}
