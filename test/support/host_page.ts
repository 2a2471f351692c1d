import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A third-party website: it shows pages on a separate origin and can send headers with them. */
export interface HostPage {
  origin: string
  /** Sets the response to every request for a page. */
  show: (html: string, headers?: Record<string, string>) => void
  close: () => Promise<void>
}

export async function startHostPage(): Promise<HostPage> {
  let html = ''
  let headers: Record<string, string> = {}
  const server = createServer((request, response) => {
    if (request.url === '/favicon.ico') return void response.writeHead(204).end()
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    show(page, sent = {}) {
      html = page
      headers = sent
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
