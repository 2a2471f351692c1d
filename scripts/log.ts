import { stripVTControlCharacters } from 'node:util'

/** What the terminal shows: our own lines plainly, those of the children behind their name. */

const verbose = Boolean(process.env.VERBOSE)
const color = (code: number, text: string) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
export const dim = (text: string) => color(2, text)
export const bold = (text: string) => color(1, text)

export function say(text: string): void {
  console.log(text)
}

/** Ends the sentence of a fault that the person at the terminal can do something about. */
export function complain(text: string): void {
  console.error(`\n${color(31, '✘')} ${text}\n`)
}

/** Prints a child's lines; of the many that it writes only those that `select` keeps (VERBOSE=1: all). */
export function printer(name: string, select: (line: string) => string | undefined): (line: string) => void {
  return (line) => {
    const shown = verbose ? line : select(line)
    if (shown?.trim()) console.log(`${dim(`${name.padEnd(10)} │`)} ${shown}`)
  }
}

// What is so on every laptop, the requests that we make ourselves, and wrangler's own talk.
const NOISE = [
  /^(GET|HEAD|OPTIONS) \S+ [23]\d\d |\/cdn-cgi\/\S+ [23]\d\d |^GET \/health |^QUEUE \S+ (\d+)\/\2 /,
  /^(⛅|─|✨|⎔|\[wrangler|Using secrets|Your Worker has access|Ready on|Starting local|Reloading local|The following containers|- tonearm-|Binding\s+Resource|env\.)|update available/,
  /\[WARNING\] (Processing wrangler\.toml|Scheduled Workers are not)|experimental_s3_credentials/,
]

/**
 * Requests that change something or fail, errors, warnings and what the Worker logs. A dropped line takes its indented ones
 * along.
 */
export function workerLineSelector(): (line: string) => string | undefined {
  let dropping = false
  return (line) => {
    const plain = stripVTControlCharacters(line).replace(/^\[wrangler:\w+\] /, '')
    if (/^\S/.test(plain)) dropping = NOISE.some((pattern) => pattern.test(plain))
    // The token of an upload URL is a permission.
    return dropping || !plain.trim() ? undefined : plain.replace(/(\/v1\/cover_upload\/)\S+/, '$1…')
  }
}

/** `job_done` and whatever failed, as words instead of JSON. */
export function selectTranscoderLine(line: string): string | undefined {
  if (!line.startsWith('{')) return line
  try {
    const { time: _time, event, ...facts } = JSON.parse(line) as Record<string, unknown>
    if (event === 'started' || event === 'stopped' || event === 'job_started') return undefined
    const words = Object.entries(facts).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    return [String(event), ...words].join(' ')
  } catch {
    return line
  }
}
