import { verifyWebhook } from '@tonearm/client'

/** Receives webhooks. */
export async function POST(request: Request) {
  const secret = process.env.TONEARM_WEBHOOK_SECRET ?? ''
  const webhook = await verifyWebhook({ body: await request.text(), headers: request.headers, secret })
  if (!webhook.ok) return new Response(webhook.code, { status: 400 })
  if (webhook.event.type === 'track.ready') console.log(`${webhook.event.data.track_id} can be played`)
  return new Response(null, { status: 204 })
}
