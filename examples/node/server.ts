import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { type TonearmEvent, verifyWebhook } from '@tonearm/client'

/** Receives webhooks, with nothing but Node (22.18 or newer runs this file as it is). */

const { TONEARM_WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env
// Else every webhook would be refused, and given up after days.
if (!secret) throw new Error('TONEARM_WEBHOOK_SECRET is missing: the secret of the webhook endpoint, whsec_…')

/** Bytes; a webhook has about 400. Anybody may call, so no more is kept. */
const MAX_BODY = 64 * 1024

/** Events come at least once: remember their ids where this outlives a restart. */
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
  // Answer at once: if you need longer than 15 seconds, put the event into a queue first.
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
