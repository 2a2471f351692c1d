import type { Overrides, PlayerTexts } from '../texts/texts.ts'

/** Names of version 0.1, which work for one more release and say so. */

const warned = new Set<string>()

/** Says once what is written otherwise now. */
export function warnOnce(old: string, now: string): void {
  if (warned.has(old)) return
  warned.add(old)
  console.warn(`Tonearm: ${old} is ${now} now. The old name goes with the next release.`)
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** An event's detail that can be read by its old names too. */
export function withOldNames<T extends object>(detail: T): T {
  for (const [name, value] of Object.entries(detail)) {
    const old = snake(name)
    if (old === name) continue
    const get = () => {
      warnOnce(`detail.${old}`, `detail.${name}`)
      return value as unknown
    }
    Object.defineProperty(detail, old, { get })
  }
  return detail
}

const STATUS = ['processing', 'offline', 'expired', 'empty', 'failed']

/** The player's property `strings` as its property `texts`. */
export function textsOfStrings(strings: Record<string, string>): Overrides<PlayerTexts> {
  warnOnce('the property strings of <tonearm-player>', 'texts')
  const entries = Object.entries(strings)
  const is = (wanted: (name: string) => boolean) => Object.fromEntries(entries.filter(([name]) => wanted(name)))
  const plain = Object.entries(is((name) => !STATUS.includes(name) && name !== 'download_failed'))
  return {
    ...Object.fromEntries(plain.map(([name, text]) => [camel(name), text])),
    status: is((name) => STATUS.includes(name)),
    errors: is((name) => name === 'download_failed'),
  }
}
