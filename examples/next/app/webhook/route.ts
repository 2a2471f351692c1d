import { verifyWebhook } from '@tonearm/client'

const { TONEARM_WEBHOOK_SECRET: secret = '' } = process.env
// Without the secret, this route would reject every webhook, and the service would give up after days of retries. `next build` needs the
// secret as well.
if (!secret) throw new Error('TONEARM_WEBHOOK_SECRET is missing: the secret of the webhook endpoint, whsec_…')

/** Receives webhooks. */
export async function POST(request: Request) {
  const webhook = await verifyWebhook({ body: await request.text(), headers: request.headers, secret })
  if (!webhook.ok) return new Response(webhook.code, { status: 400 })
  if (webhook.event.type === 'track.ready') console.log(`${webhook.event.data.track_id} can be played`)
  return new Response(null, { status: 204 })
}
