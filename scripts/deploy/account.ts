import { listenToWrangler } from './wrangler.ts'

/** The Cloudflare account that is deployed to, through its API. */
export interface Account {
  id: string
  token: string
  /** Whether the token is CLOUDFLARE_API_TOKEN, and not that of a login, which ends within hours. */
  hasApiToken: boolean
}

/** Something that the person at the terminal must do first; `deploy.ts` prints it. */
export class Refusal extends Error {}

/** What Cloudflare answered instead of a result. */
export class ApiFault extends Error {
  readonly status: number
  readonly code: number
  constructor(status: number, code: number, message: string) {
    super(`${message} (${status}, code ${code})`)
    this.status = status
    this.code = code
  }
}

const base = () => process.env.CLOUDFLARE_API_BASE_URL || 'https://api.cloudflare.com/client/v4'

/** What is there before a deployment. */
export interface Found {
  bucket: boolean
  /** Id of each queue that exists, by its name. */
  queues: Record<string, string>
  /** Id of the database. */
  database: string | null
  /** What the Worker is bound to; null when there is none. */
  bindings: Binding[] | null
  /** Where the service answers. */
  url: string
  /** The own domain, given now or earlier. */
  domain: string | undefined
  /** R2's pair, where the Worker lacks it or a new one is given. */
  pair: { R2_ACCESS_KEY_ID?: string; R2_SECRET_ACCESS_KEY?: string }
}

export interface Binding {
  type: string
  name: string
  text?: string
}

interface Envelope<T> {
  success?: boolean
  result?: T
  errors?: { code: number; message: string }[]
}

/** One call of the API. `jurisdiction` is that of the bucket. */
export async function call<T>(
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
  const response = await fetch(base() + path, { ...init, signal: AbortSignal.timeout(60_000) })
  const answer = (await response.json().catch(() => ({}))) as Envelope<T>
  if (response.ok && answer.success !== false) return answer.result as T
  const [error] = answer.errors ?? []
  throw new ApiFault(response.status, error?.code ?? 0, error?.message ?? `${method} ${path} failed`)
}

/** What a path holds, or null when there is nothing. */
export async function find<T>(token: string, path: string, jurisdiction?: string): Promise<T | null> {
  return call<T>(token, 'GET', path, undefined, jurisdiction).catch((error: unknown) => {
    if (error instanceof ApiFault && error.status === 404) return null
    throw error
  })
}

export async function openAccount(configured?: string): Promise<Account> {
  const apiToken = process.env.CLOUDFLARE_API_TOKEN
  const token = apiToken || (await tokenOfLogin())
  const id = process.env.CLOUDFLARE_ACCOUNT_ID || configured || (await onlyAccount(token))
  return { id, token, hasApiToken: Boolean(apiToken) }
}

async function tokenOfLogin(): Promise<string> {
  const { ok, output } = await listenToWrangler('auth', 'token', '--json')
  const token = ok ? (JSON.parse(output.slice(output.indexOf('{'))) as { token?: string }).token : undefined
  if (token) return token
  throw new Refusal(
    'Nobody is logged in. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN (docs/deploy.md#you-need).',
  )
}

async function onlyAccount(token: string): Promise<string> {
  const accounts = await call<{ id: string; name: string }[]>(token, 'GET', '/accounts?per_page=50').catch(
    (error: unknown) => {
      if (error instanceof ApiFault && error.status < 500)
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
