import type * as advice from './advice.ts'

/**
 * Writes a warning for the developer of the page to the console, unless `messageOf` returns null. The module with the messages is not in
 * the bundle, and is loaded first.
 */
export async function warn(messageOf: (module: typeof advice) => string | null): Promise<void> {
  const text = messageOf(await import('./advice.ts'))
  if (text !== null) console.warn(`<tonearm-player>: ${text}`)
}
