interface Answered {
  api_request_id: string
  method: string
  /** The pattern of the path, never the path itself: there, play sessions and upload URLs have their secrets. */
  route: string
  status: number
  /** When it came. */
  began: number
  /** Whose it is, where that is known. */
  organization_id: string | undefined
}

/** Writes the one line of a request (docs/decisions/0043). */
export function logRequest({ REQUEST_LOG }: Env, { began, ...line }: Answered): void {
  if (REQUEST_LOG !== 'true') return
  console.log(JSON.stringify({ event: 'request', ...line, milliseconds: Date.now() - began }))
}
