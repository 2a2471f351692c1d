import { type ClientRequest, type RequestOptions, request as overTcp } from 'node:http'
import { request as overTls } from 'node:https'

/**
 * Opens a request; redirects are returned as responses and not followed. `fetch` is not used because it keeps a body in memory until all
 * of it is sent (1.6 GB for a file of 1.5 GB), and its first download takes half as long again.
 */
export function openRequest(url: string, options: RequestOptions): ClientRequest {
  const to = new URL(url)
  const request = (to.protocol === 'https:' ? overTls : overTcp)(to, options)
  // Errors after the response has started also reach the response; unhandled here, they would end the process.
  return request.on('error', () => undefined)
}
