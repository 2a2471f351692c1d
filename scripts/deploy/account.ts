import { captureWrangler } from './wrangler.ts'

/** The Cloudflare account of the deployment, with the token for calls to Cloudflare's API. */
export interface Account {
  id: string
  token: string
  /** Whether the token is CLOUDFLARE_API_TOKEN. A token from `wrangler login` expires within hours. */
  hasApiToken: boolean
}

/** Thrown when the user must do something before the deployment is possible. `deploy.ts` prints the message. */
export class Refusal extends Error {}

/** An error response of Cloudflare's API. */
export class ApiError extends Error {
  readonly status: number
  readonly code: number
  constructor(status: number, code: number, message: string) {
    super(`${message} (${status}, code ${code})`)
    this.status = status
    this.code = code
  }
}

const apiUrl = () => process.env.CLOUDFLARE_API_BASE_URL || 'https://api.cloudflare.com/client/v4'

/** The state of the account before the deployment. */
export interface AccountState {
  /** Null if it does not exist. */
  bucket: Bucket | null
  /** Ids of the existing queues, keyed by name. */
  queues: Record<string, string>
  /** Id of the database; null if there is none. */
  database: string | null
  /** Bindings of the Worker; null if there is no Worker. */
  bindings: Binding[] | null
  /** Base URL of the service. */
  url: string
  /** The custom domain of this deployment or of an earlier one. */
  domain: string | undefined
  /** The domain of the bucket that this deployment sets up. */
  media: MediaDomain | null
  /** R2's key pair, if the Worker does not have it yet or the environment contains a new one. */
  pair: { R2_ACCESS_KEY_ID?: string; R2_SECRET_ACCESS_KEY?: string }
  /** Whether this deployment adds classes of Durable Objects. */
  addsClasses: boolean
  /** The last class migration of the deployed Worker, and its classes that this version lacks, if it is newer. */
  newer: { tag: string; classes: string[] } | null
}

export interface Bucket {
  /** The region that R2 chose, such as `WEUR`. */
  location?: string
}

/** The domain at which the bucket's files open with a token (docs/media.md). */
export interface MediaDomain {
  domain: string
  zone_id: string
  /** Keys whose tokens the zone accepts; the Worker signs with the first. */
  keys: string[]
  /** The base URL of the domain. */
  url: string
  /** Whether the bucket has the domain already. */
  isAttached: boolean
}

export interface Binding {
  type: string
  name: string
  text?: string
  /** Id of a D1 database. */
  id?: string
}

interface Envelope<T> {
  success?: boolean
  result?: T
  errors?: { code: number; message: string }[]
}

/** Calls Cloudflare's API. `jurisdiction` is the jurisdiction of the bucket. */
export async function callApi<T>(
  token: string,
  method: string,
  path: string,
  body?: unknown,
  jurisdiction?: string,
): Promise<T> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(jurisdiction && { 'cf-r2-jurisdiction': jurisdiction }),
  }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(apiUrl() + path, { ...init, signal: AbortSignal.timeout(60_000) })
  const envelope = (await response.json().catch(() => ({}))) as Envelope<T>
  if (response.ok && envelope.success !== false) return envelope.result as T
  const [error] = envelope.errors ?? []
  throw new ApiError(response.status, error?.code ?? 0, error?.message ?? `${method} ${path} failed`)
}

/** Returns the resource at a path, or null if it does not exist. */
export async function findResource<T>(token: string, path: string, jurisdiction?: string): Promise<T | null> {
  return callApi<T>(token, 'GET', path, undefined, jurisdiction).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  })
}

export async function connectAccount(configured?: string): Promise<Account> {
  const apiToken = process.env.CLOUDFLARE_API_TOKEN
  const token = apiToken || (await tokenOfLogin())
  const id = process.env.CLOUDFLARE_ACCOUNT_ID || configured || (await onlyAccount(token))
  return { id, token, hasApiToken: Boolean(apiToken) }
}

async function tokenOfLogin(): Promise<string> {
  const { ok, output } = await captureWrangler('auth', 'token', '--json')
  const token = ok ? (JSON.parse(output.slice(output.indexOf('{'))) as { token?: string }).token : undefined
  if (token) return token
  throw new Refusal(
    'You are not logged in. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN (docs/deploy.md#you-need).',
  )
}

async function onlyAccount(token: string): Promise<string> {
  const accounts = await callApi<{ id: string; name: string }[]>(token, 'GET', '/accounts?per_page=50').catch(
    (error: unknown) => {
      if (error instanceof ApiError && error.status < 500)
        throw new Refusal(
          `Cloudflare does not know this token: ${error.message}. Make a new one, or run \`npx wrangler login\`.`,
        )
      throw error
    },
  )
  if (accounts.length === 1 && accounts[0]) return accounts[0].id
  const list = accounts.map(({ id, name }) => `\n  CLOUDFLARE_ACCOUNT_ID=${id}   ${name}`).join('')
  throw new Refusal(
    list
      ? `Which account? Set one of these:${list}`
      : 'The token names no account: set CLOUDFLARE_ACCOUNT_ID, which the dashboard shows.',
  )
}
