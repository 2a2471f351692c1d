import { Webhook } from 'standardwebhooks'

/** Webhooks for the receivers of `examples`, signed by the reference implementation. */

export const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const EVENT = JSON.stringify({ id: 'event-1', type: 'track.ready', data: { track_id: 'track-1', duration: 2.5 } })

/** What a receiver answers to a webhook, when it comes again, and when another body was signed. */
export async function answersOf(receive: (init: RequestInit) => Promise<Response>) {
  const at = new Date()
  const headers = {
    'webhook-id': 'event-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('event-1', at, EVENT),
  }
  const answers = []
  for (const body of [EVENT, EVENT, EVENT.replace('2.5', '2.6')]) {
    const response = await receive({ method: 'POST', headers, body })
    answers.push(`${response.status} ${await response.text()}`)
  }
  return answers
}
/** What a receiver has to answer. */
export const ANSWERS = ['204 ', '204 ', '400 signature_mismatch']
