import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { Webhook } from 'standardwebhooks'
import { vi } from 'vitest'

import { showLog } from '../support/logs.ts'
import { freePorts } from '../support/stack.ts'

/** Sends webhooks to the receivers in `examples`. The reference implementation signs them. */

export const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const EVENT = JSON.stringify({ id: 'event-1', type: 'track.ready', data: { track_id: 'track-1', duration: 2.5 } })

/** Returns a receiver's responses to a webhook, to the same webhook again, and to a body that does not match the signature. */
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
/** The responses that `answersOf` should return. */
export const ANSWERS = ['204 ', '204 ', '400 signature_mismatch']

/** Runs `server.ts` of a folder during `use` and returns its complete output. */
export async function useReceiver(cwd: string, use: (url: string) => Promise<void>) {
  const [port] = await freePorts()
  const env = { ...process.env, TONEARM_WEBHOOK_SECRET: SECRET, PORT: String(port) }
  const server = spawn(process.execPath, ['server.ts'], { cwd, env })
  const closed = once(server, 'close')
  let [stdout, stderr] = ['', '']
  server.stdout.on('data', (data) => (stdout += String(data)))
  server.stderr.on('data', (data) => (stderr += String(data)))
  showLog('the receiver', () => stdout + stderr)
  try {
    const url = `http://127.0.0.1:${port}`
    await vi.waitFor(() => fetch(url, { method: 'POST' }), { timeout: 30_000, interval: 100 })
    await use(url)
  } finally {
    server.kill()
    await closed
  }
  return { stdout, stderr }
}
