/** Runs the checks of the doctor and prints their results. */

let faults = 0

/** Returns the number of failed checks so far. */
export const countFailures = () => faults

/** Runs one check and prints its result as a line. `advice` is the remedy if the check fails. In that case, returns null. */
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

/** Returns the result of an API request if it was successful. Otherwise throws its error message. */
export async function unwrap<T extends { ok: true } | { ok: false; status: number; code: string; message: string }>(
  answer: Promise<T>,
): Promise<Extract<T, { ok: true }>> {
  const result = await answer
  if (!result.ok) throw new Error(`${result.status || ''} ${result.code}: ${result.message}`.trim())
  return result as Extract<T, { ok: true }>
}
