import { type ClientRequest, type RequestOptions, request as overTcp } from 'node:http'
import { request as overTls } from 'node:https'

/**
 * Begins a request; a redirect is an answer like any other, and not followed. Not `fetch`: it holds a body in memory until all of it is
 * sent, 1.6 GB for a file of 1.5 GB, and the first download with it takes half as long again.
 */
export function openRequest(url: string, options: RequestOptions): ClientRequest {
  const to = new URL(url)
  const request = (to.protocol === 'https:' ? overTls : overTcp)(to, options)
  // What breaks after the answer has begun, the answer tells; here it would end the process.
  return request.on('error', () => undefined)
}
