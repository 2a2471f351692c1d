/** How the doctor checks one thing after the other and says what it found. */

let faults = 0

/** How many checks failed so far. */
export const countFaults = () => faults

/** Runs one check and prints its line; `advice` says what to do about a failure. Null when it failed. */
export async function check<T>(name: string, advice: string, run: () => Promise<[note: string, value: T]>) {
  try {
    const [note, value] = await run()
    console.log(`ok      ${name}${note && `: ${note}`}`)
    return { value }
  } catch (error) {
    faults++
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    const because = cause instanceof Error ? ` (${cause.message})` : ''
    console.log(`FAILED  ${name}: ${message}${because}\n        → ${advice}`)
    return null
  }
}

export function expect(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message)
}

/** The API's answer, or its reason thrown. */
export async function need<T extends { ok: true } | { ok: false; status: number; code: string; message: string }>(
  answer: Promise<T>,
): Promise<Extract<T, { ok: true }>> {
  const result = await answer
  if (!result.ok) throw new Error(`${result.status || ''} ${result.code}: ${result.message}`.trim())
  return result as Extract<T, { ok: true }>
}
