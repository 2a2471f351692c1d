import { request } from 'node:http'

import { AwsClient } from 'aws4fetch'
import { vi } from 'vitest'

import { attachMediaDomain, checkMediaDomain, retireKeys } from '../../scripts/deploy/media_domain.ts'
import { withToken } from '../../scripts/deploy/media_rules.ts'
import type { Plan } from '../../scripts/deploy/plan.ts'
import { reset } from '../support/cloudflare/account.ts'
import { type Edge, startEdge, type Stored } from '../support/cloudflare/edge.ts'
import { type Cloudflare, startFakeCloudflare } from '../support/cloudflare/server.ts'

/** A simulated account with a bucket, and the edge of its zone, which answers over HTTP. */

export const DOMAIN = 'media.example.com'
export const FILE = 'media/org/col/idx/j1/aac-160.m4a'
export const SOUND = Uint8Array.from({ length: 5000 }, (_, at) => at % 251)
const FILES = new Map([
  [FILE, SOUND],
  ['media/org/col/idx/j1/lossless.flac', new Uint8Array(20_000)],
])

export const aBucket = (...domains: string[]) => ({
  location: undefined,
  cors: null,
  rules: [],
  domains: new Set(domains),
  isPublic: false,
  jurisdiction: null,
})

/** Returns a function that reads an object of a stack's bucket. */
export function bucketOf(stack: () => { base_url: string } | undefined) {
  const s3 = new AwsClient({ accessKeyId: 'tonearm-local', secretAccessKey: 'tonearm-local-secret', service: 's3' })
  return async (key: string): Promise<Stored | null> => {
    const started = stack()
    if (!started) return null
    const url = `${started.base_url}/cdn-cgi/local/r2/s3/tonearm-media/${key}`
    const response = await s3.fetch(url, { aws: { region: 'auto' } })
    const body = new Uint8Array(await response.arrayBuffer())
    const stored = ['content-type', 'cache-control', 'etag'].map((name) => [name, response.headers.get(name) ?? ''])
    return response.ok ? { body, headers: Object.fromEntries(stored) } : null
  }
}

interface Sent {
  method?: string
  headers?: Record<string, string>
}
interface Received {
  status: number
  headers: NodeJS.Dict<string | string[]>
  body: Buffer
}

export type Zone = Awaited<ReturnType<typeof startZone>>

/** Starts an account and an edge that caches files of up to 10,000 bytes. Commands of this process use them until `close`. */
export async function startZone(
  start: () => Promise<Cloudflare> = () => startFakeCloudflare(async () => new Response()),
) {
  const cloudflare = await start()
  const { account } = cloudflare
  const edge: Edge = await startEdge(account, {
    host: DOMAIN,
    limit: 10_000,
    async read(key) {
      const body = FILES.get(key)
      const headers = { 'content-type': 'audio/mp4', 'cache-control': 'private, max-age=31536000, immutable' }
      return body ? { body, headers } : null
    },
  })
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', `${cloudflare.url}/client/v4`)
  vi.stubEnv('MEDIA_PATIENCE', '1')
  return {
    cloudflare,
    account,
    edge,
    /** Empties the account and the cache, creates a bucket without a domain, and gives commands the address of the edge and no key. */
    reset() {
      vi.stubEnv('MEDIA_BASE_URL', edge.url)
      vi.stubEnv('MEDIA_KEY', '')
      reset(account)
      account.buckets.set('tonearm-media', aBucket())
      cloudflare.changes = []
      edge.reset()
    },
    domains: () => [...account.buckets.get('tonearm-media')!.domains],
    /** The changes of the account, without ids. */
    changes: () => cloudflare.changes.map((change) => change.replaceAll(/[0-9a-f]{32}/g, '…')),
    /** Runs the parts of a deployment that set up the domain. `deployWorker` stands for the part between them. */
    async setUp(domain = DOMAIN, deployWorker = async () => {}) {
      const plan = { bucket: 'tonearm-media', mediaDomain: domain, domain: 'audio.example.com' } as Plan
      const caller = { id: account.id, token: account.token, hasApiToken: true }
      const media = await checkMediaDomain(plan, caller)
      await attachMediaDomain(plan, caller, media)
      await deployWorker()
      await retireKeys(caller.token, media)
      return media
    },
    /** Sends a request with exactly this path, which `fetch` would normalize. */
    send: (path: string, { method = 'GET', headers = {} }: Sent = {}) =>
      new Promise<Received>((resolve, reject) => {
        const { hostname, port } = new URL(edge.url)
        const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
          const parts: Buffer[] = []
          response.on('data', (part: Buffer) => parts.push(part))
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
          )
        })
        sent.on('error', reject).end()
      }),
    /** Returns the path of a file with a token that is valid for a minute. */
    pathTo: (file: string, key: string) => withToken(`${edge.url}/${file}`, key, 60).slice(edge.url.length),
    async close() {
      vi.unstubAllEnvs()
      await edge.close()
      await cloudflare.close()
    },
  }
}
