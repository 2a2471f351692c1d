import { createClient, verifyWebhook } from '@tonearm/client'

/**
 * The back end of a site. The server key never leaves this Worker: listeners get a play session, and users who may upload get an uploader
 * key, which works only for one collection and on this site, and expires after an hour. `/webhook` receives events about tracks.
 */

interface Env {
  TONEARM_URL: string
  TONEARM_KEY: string
  TONEARM_WEBHOOK_SECRET: string
  COLLECTION_ID: string
}

const HOUR = 3600_000

export default {
  async fetch(request, env) {
    const { TONEARM_URL: service, TONEARM_KEY: api_key, COLLECTION_ID: collection_id } = env
    const client = createClient({ base_url: service, api_key })
    const { pathname, origin } = new URL(request.url)
    switch (`${request.method} ${pathname}`) {
      case 'GET /':
        return new Response(page(service), {
          headers: { 'content-type': 'text/html; charset=utf-8', ...policy(service) },
        })
      case 'GET /page.js':
        return new Response(SCRIPT, { headers: { 'content-type': 'text/javascript; charset=utf-8' } })
      case 'POST /play-session':
        return answer(await client.post('/v1/play_session/collection', { body: { collection_id } }))
      case 'POST /upload-key': {
        if (!mayUpload(request)) return new Response('Sign in first', { status: 403 })
        const expires_at = new Date(Date.now() + HOUR).toISOString()
        const body = {
          title: 'A visitor',
          type: 'uploader' as const,
          collection_id,
          allowed_origins: [origin],
          expires_at,
        }
        const key = await client.post('/v1/api_key', { body })
        const result = key.ok ? { ok: true, api_key: key.secret, collection_id } : key
        return answer(result)
      }
      case 'POST /webhook': {
        const secret = env.TONEARM_WEBHOOK_SECRET
        const webhook = await verifyWebhook({ body: await request.text(), headers: request.headers, secret })
        if (!webhook.ok) return new Response(webhook.code, { status: 400 })
        if (webhook.event.type === 'track.ready') console.log(`${webhook.event.data.track_id} can be played`)
        return new Response(null, { status: 204 })
      }
      default:
        return new Response('There is nothing here', { status: 404 })
    }
  },
} satisfies ExportedHandler<Env>

/**
 * Replace this check with your own, such as a sign-in. It only ensures that the request comes from this site: browsers send `Origin` with
 * every POST.
 */
const mayUpload = (request: Request) => request.headers.get('origin') === new URL(request.url).origin

/** Returns the result of a call to the service as JSON, with status 502 if the call failed. */
const answer = (result: { ok: boolean }) => Response.json(result, { status: result.ok ? 200 : 502 })

const page = (service: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Our new record</title>
    <script type="module" src="${service}/elements/1/player.js"></script>
    <script type="module" src="${service}/elements/1/uploader.js"></script>
    <script type="module" src="/page.js"></script>
  </head>
  <body>
    <h1>Our new record</h1>
    <tonearm-player></tonearm-player>
    <h2>Send us yours</h2>
    <tonearm-uploader></tonearm-uploader>
  </body>
</html>`

const SCRIPT = `
const post = async (path) => (await fetch(path, { method: 'POST' })).json()

const { play_session_id } = await post('/play-session')
document.querySelector('tonearm-player').setAttribute('play-session-id', play_session_id)

const { api_key, collection_id } = await post('/upload-key')
const uploader = document.querySelector('tonearm-uploader')
uploader.setAttribute('collection-id', collection_id)
uploader.setAttribute('api-key', api_key)
`

/**
 * `https:` allows the URLs of the bucket, from which files are loaded and to which they are uploaded. In production, replace it with the
 * URL of your bucket.
 */
const policy = (service: string) => ({
  'content-security-policy': [
    `default-src 'none'; script-src 'self' ${service}; connect-src 'self' ${service} https:`,
    `img-src ${service} https: blob:; media-src ${service} https:; base-uri 'none'; form-action 'none'`,
    `require-trusted-types-for 'script'`,
  ].join('; '),
})
