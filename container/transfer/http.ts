import { type ClientRequest, type RequestOptions, request as overTcp } from 'node:http'
import { request as overTls } from 'node:https'

/**
 * Opens a request. Redirects are returned as responses and not followed. `fetch` is not used, because it keeps a body in memory until it is
 * sent completely (1.6 GB for a file of 1.5 GB), and because its first download takes 1.5 times as long.
 */
export function openRequest(url: string, options: RequestOptions): ClientRequest {
  const to = new URL(url)
  const request = (to.protocol === 'https:' ? overTls : overTcp)(to, options)
  // Errors after the start of the response are also emitted by the response. Without this listener, they would end the process.
  return request.on('error', () => undefined)
}
