import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { AwsClient } from 'aws4fetch'

import { type Account, type Call, ApiError, openAccount, type Permission, type Routes } from './account.ts'
import { d1, queues, r2 } from './storage.ts'
import { containers, workers } from './workers.ts'
import { dns, rulesets, zones } from './zone.ts'

/**
 * A simulated Cloudflare account with the part of the API that a deployment uses. It enforces rules that Cloudflare
 * documents or that deployments encountered: permissions, names that must exist, queue consumers, and how D1 splits a
 * file into statements. R2's S3 endpoint and Docker Hub are simulated as well. A real SQLite simulates D1.
 */
export interface Cloudflare {
  url: string
  account: Account
  /** All calls except reads. */
  changes: string[]
  close: () => Promise<void>
}

/** Routes that belong to the user and not to an account. */
const user: Routes = {
  'GET /accounts': ({ account }) => [{ id: account.id, name: 'Played' }],
  'GET /user/tokens/verify': ({ account }) => ({ id: account.pair.R2_ACCESS_KEY_ID, status: 'active' }),
}
const ROUTES: [Permission | null, Routes][] = [
  [null, user],
  ['zones', zones],
  ['dns', dns],
  ['rulesets', rulesets],
  ['r2', r2],
  ['queues', queues],
  ['d1', d1],
  ['workers', workers],
  ['containers', containers],
]
const ALL = ROUTES.flatMap(([permission, routes]) =>
  Object.entries(routes).map(([route, run]) => ({
    permission,
    run,
    pattern: new RegExp(`^${route.replaceAll(/:\w+/g, '([^/]+)')}$`),
  })),
)

function allow({ rules }: Account, permission: Permission | null): void {
  if (permission && !rules.permissions.has(permission)) throw new ApiError(403, 10_000, 'Authentication error')
  if (permission === 'r2' && !rules.hasR2)
    throw new ApiError(403, 10_042, 'Please enable R2 through the Cloudflare Dashboard.')
  if (permission === 'containers' && !rules.isPaid) throw new ApiError(403, 1000, 'Unauthorized')
}

/** Simulates R2's S3 endpoint: it accepts one pair of keys, and responds with the error codes of R2. */
async function answerS3(
  { account, url }: Cloudflare,
  request: IncomingMessage,
): Promise<[status: number, code: string]> {
  const { authorization = '' } = request.headers
  const access = /Credential=(\w*)\//.exec(authorization)?.[1] ?? ''
  if (access.length !== 32) return [400, 'InvalidArgument']
  if (access !== account.pair.R2_ACCESS_KEY_ID) return [401, 'Unauthorized']
  const datetime = String(request.headers['x-amz-date'])
  const client = new AwsClient({
    accessKeyId: access,
    secretAccessKey: account.pair.R2_SECRET_ACCESS_KEY,
    service: 's3',
    region: 'auto',
  })
  const signed = await client.sign(url + request.url, { aws: { datetime } })
  if (signed.headers.get('authorization') !== authorization) return [403, 'SignatureDoesNotMatch']
  return account.buckets.has(new URL(request.url ?? '', url).pathname.split('/')[2] ?? '')
    ? [200, '']
    : [404, 'NoSuchBucket']
}

/** Simulates an account on a free local port. `serve` responds to requests to the deployed service. */
export async function startFakeCloudflare(serve: (request: Request) => Promise<Response>): Promise<Cloudflare> {
  const account = openAccount()
  const played: Cloudflare = {
    url: '',
    account,
    changes: [],
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }

  async function answer(request: IncomingMessage, bytes: Buffer): Promise<unknown> {
    if (request.headers.authorization !== `Bearer ${account.token}`)
      throw new ApiError(401, 10_000, 'Authentication error')
    const { pathname, searchParams } = new URL(request.url ?? '', played.url)
    const route = `${request.method} ${pathname.replace('/client/v4', '').replace(`/accounts/${account.id}`, '')}`
    const found = ALL.find(({ pattern }) => pattern.test(route))
    if (!found) throw new ApiError(404, 7003, `Could not route to ${route}, perhaps your object identifier is invalid?`)
    allow(account, found.permission)
    const type = request.headers['content-type'] ?? ''
    const form = () => new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
    const body: Call['body'] = type.startsWith('multipart/') || bytes.length === 0 ? {} : JSON.parse(bytes.toString())
    const call: Call = {
      words: found.pattern.exec(route)!.slice(1),
      query: searchParams,
      jurisdiction: (request.headers['cf-r2-jurisdiction'] as string | undefined) ?? null,
      body,
      form,
      account,
      url: played.url,
    }
    const result = await found.run(call)
    const isLook = route.startsWith('GET ') || /^\s*select/i.test(body.sql)
    if (!isLook) played.changes.push(route)
    return result
  }

  async function respond(request: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> {
    const { pathname } = new URL(request.url ?? '', played.url)
    const [, first, ...rest] = pathname.split('/')
    if (first === 'files' && request.method === 'GET') {
      response.writeHead(200).end(account.files.get(rest.join('/')))
    } else if (first === 'files') {
      account.files.set(rest.join('/'), bytes.toString())
      response.writeHead(200, { etag: `"${createHash('md5').update(bytes).digest('hex')}"` }).end()
    } else if (first === 's3') {
      const [status, code] = await answerS3(played, request)
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>${code} it is</Message></Error>`)
    } else if (first === 'v2') {
      response.writeHead(pathname === '/v2/repositories/example/tonearm-transcoder/tags/1' ? 200 : 404).end('{}')
    } else if (first === 'client') {
      const [status, envelope] = await answer(request, bytes).then(
        (result) => [200, { success: true, errors: [], messages: [], result, result_info: infoOf(result) }],
        ({ status, code, message }: ApiError) => [
          status,
          { success: false, errors: [{ code, message }], messages: [], result: null },
        ],
      )
      response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(envelope))
    } else {
      const init = {
        method: request.method ?? '',
        headers: request.headers as HeadersInit,
        ...(bytes.length > 0 && { body: new Uint8Array(bytes) }),
      }
      const answered = await serve(new Request(played.url + request.url, init))
      response.writeHead(answered.status, { 'content-type': 'application/json' }).end(await answered.text())
    }
  }

  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => void respond(request, response, Buffer.concat(parts)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  played.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  return played
}

const infoOf = (result: unknown) =>
  Array.isArray(result)
    ? { page: 1, per_page: 100, count: result.length, total_count: result.length, total_pages: 1 }
    : undefined
