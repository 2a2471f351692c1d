/** Prints one event as one line of JSON. Callers pass ids, codes and numbers, never URLs, secrets or tags. */
export function log(event: string, fields: Record<string, unknown> = {}): void {
  process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields })}\n`)
}
