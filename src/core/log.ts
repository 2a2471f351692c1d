/** Logs an event as one line of JSON: its name, then its fields, which must not contain secrets or signed URLs. */
export const log = (level: 'error' | 'log', event: string, fields: object): void =>
  console[level](JSON.stringify({ event, ...fields }))
