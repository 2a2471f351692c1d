import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { type TonearmEvent, verifyWebhook } from '@tonearm/client'

/** Receives webhooks with Node.js and no other packages. Node.js 22.18 or newer runs this file directly. */

const { TONEARM_WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env
// Without the secret, this server would reject every webhook, and the service would give up after days of retries.
if (!secret) throw new Error('TONEARM_WEBHOOK_SECRET is missing: the secret of the webhook endpoint, whsec_…')

/** Maximum size of a request body in bytes; a webhook has about 400. The endpoint is public, so larger bodies are not buffered. */
const MAX_BODY = 64 * 1024

/** The ids of the events that were received, because an event can arrive more than once. In production, store them where they survive a restart. */
const seen = new Set<string>()

async function receive(request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAX_BODY) chunks.push(chunk)
  }
  if (size > MAX_BODY) return response.writeHead(413).end()
  const webhook = await verifyWebhook({ body: Buffer.concat(chunks), headers: request.headers, secret })
  if (!webhook.ok) return response.writeHead(400).end(webhook.code)
  if (!seen.has(webhook.event.id)) react(webhook.event)
  seen.add(webhook.event.id)
  // Respond within 15 seconds. If processing an event may take longer, put the event into a queue first.
  return response.writeHead(204).end()
}

function react(event: TonearmEvent): void {
  switch (event.type) {
    case 'track.ready':
      return console.log(`${event.data.track_id} can be played: ${event.data.duration} s`)
    case 'track.failed':
      return console.log(`${event.data.track_id} failed: ${event.data.error}`)
  }
}

createServer((request, response) => {
  receive(request, response).catch(() => response.destroy())
}).listen(Number(PORT), '127.0.0.1', () => console.log(`Listening on http://127.0.0.1:${PORT}`))
