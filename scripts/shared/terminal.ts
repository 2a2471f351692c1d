import { stripVTControlCharacters } from 'node:util'

/** Prints to the terminal. Lines from child processes are prefixed with the name of the process. */

const verbose = Boolean(process.env.VERBOSE)
const color = (code: number, text: string) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
export const dim = (text: string) => color(2, text)
export const bold = (text: string) => color(1, text)

export function print(text: string): void {
  console.log(text)
}

/** Prints an error that the user can fix. */
export function printError(text: string): void {
  console.error(`\n${color(31, '✘')} ${text}\n`)
}

/** Returns a function that prints the output of a child process. It prints the lines that `select` returns, or all lines if VERBOSE=1. */
export function printer(name: string, select: (line: string) => string | undefined): (line: string) => void {
  return (line) => {
    const shown = verbose ? line : select(line)
    if (shown?.trim()) console.log(`${dim(`${name.padEnd(10)} │`)} ${shown}`)
  }
}

/** Paths that grant access (the address of a share, the id of a session or an upload, the token for listening reports), or that name a listener. */
const SECRET_PATH =
  /(?<=^|\s|https?:\/\/[^\s/]+)(\/(?:s|embed|zip|v1\/(?:play|heard|listener|upload|upload_session|cover_upload)|v1\/play_session(?!\/(?:track|collection|playlist)\b))\/)[^\s"'?]+/g
/** The query of a path, which may contain a signature or the address of a share. */
const QUERY = /(?<=\/[^\s"'?]*\?)[^\s"']+/g
const KEY = /\b(ta_[a-z]+_|whsec_)[\w.+/=-]+/g

/** Replaces the secrets in a line of output: in paths, in queries, and keys. */
export const withoutSecrets = (line: string): string =>
  line.replace(SECRET_PATH, '$1…').replace(QUERY, '…').replace(KEY, '$1…')

// Lines that are not printed: successful reads, health checks, routine messages of wrangler, and warnings that appear on every machine.
const NOISE = [
  /^(GET|HEAD|OPTIONS) \S+ [23]\d\d |\/cdn-cgi\/\S+ [23]\d\d |^GET \/health |^QUEUE \S+ (\d+)\/\2 /,
  /^(⛅|─|✨|⎔|\[wrangler|Using secrets|Your Worker has access|Ready on|Starting local|Reloading local|The following containers|- tonearm-|Binding\s+Resource|env\.)|update available/,
  /\[WARNING\] (Processing wrangler\.toml|Scheduled Workers are not)|experimental_s3_credentials/,
]

/**
 * Returns a function that selects lines from the Worker's output: requests that change something or fail, errors, warnings, and the
 * Worker's logs. If a line is dropped, the indented lines below it are also dropped.
 */
export function workerLineSelector(): (line: string) => string | undefined {
  let dropping = false
  return (line) => {
    const plain = stripVTControlCharacters(line).replace(/^\[wrangler:\w+\] /, '')
    if (/^\S/.test(plain)) dropping = NOISE.some((pattern) => pattern.test(plain))
    return dropping || !plain.trim() ? undefined : plain
  }
}

/** Formats `job_done` and failures as text instead of JSON. */
export function selectTranscoderLine(line: string): string | undefined {
  if (!line.startsWith('{')) return line
  try {
    const { time: _time, event, ...fields } = JSON.parse(line) as Record<string, unknown>
    if (['started', 'stopped', 'job_started', 'covers_confined'].includes(String(event))) return undefined
    const words = Object.entries(fields).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    return [String(event), ...words].join(' ')
  } catch {
    return line
  }
}
