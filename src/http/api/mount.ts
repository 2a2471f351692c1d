import { zValidator } from '@hono/zod-validator'
import type { Context as Request, Hono, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type * as z from 'zod'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { openDatabase, openForRequest } from '../../adapters/db/database.ts'
import { hasRoom } from '../../adapters/db/database_size.ts'
import { wakeWebhooks } from '../../adapters/queue/wake_webhooks.ts'
import type { Context } from '../../context.ts'
import { effectsOf } from '../../contract/effect.ts'
import { type Growth, MAX_BODY_BYTES } from '../../contract/facts.ts'
import type { Operation, Operations } from '../../contract/operation.ts'
import { storageFull } from '../../core/errors.ts'
import { requireEffects } from '../../core/may.ts'
import { isShare, keyOf, type Principal } from '../../core/principal.ts'
import { runIdempotent } from '../../resources/idempotency.ts'
import { JSON_HEADERS, requestId } from '../answer.ts'
import { authenticate } from '../auth/authenticate.ts'
import { limitKey } from '../auth/limit_key.ts'
import { clientOf, countedPart, mayRead } from '../auth/limit_rate.ts'
import { type AppEnv, contextOf } from '../context.ts'
import { countDownload } from '../count_download.ts'
import { encoder } from '../encode.ts'
import { answerListener } from '../listen/answer_listener.ts'
import { viewsQuery } from '../listen/views_query.ts'
import { fileResponse } from './files.ts'
import { answerHeard } from './heard.ts'
import { readJson, tooLarge } from './json_body.ts'
import { checkQuery } from './query.ts'
import { checkBody, ISSUES, refuse, type Target } from './refuse.ts'

/** Converts a path such as `/v1/track/{track_id}` to Hono's syntax. */
export const honoPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

const limitBody = (maxSize = MAX_BODY_BYTES) =>
  bodyLimit({
    maxSize,
    onError: () => {
      throw tooLarge(maxSize)
    },
  })

/** Parses and validates the body. Hono's validator is not used because it would skip the checks of `readJson`. */
const parseBody = (operation: Operation, schema: z.ZodType): MiddlewareHandler<AppEnv> =>
  async function parseBody(c, next) {
    c.req.addValidatedData('json', checkBody(operation, schema, await readJson(c)) as object)
    return next()
  }

/** The operations whose query is also parsed before zod is loaded. */
const QUERIES: Partial<Record<string, (url: string) => object>> = { playSession: viewsQuery }

function validate(name: string, operation: Operation): MiddlewareHandler<AppEnv>[] {
  const check = (target: Target, schema: z.ZodObject | undefined) =>
    schema
      ? [
          zValidator(
            target,
            schema,
            (result) => {
              if (!result.success) refuse(operation, target, result.error)
            },
            { validationFunction: (schema, value) => schema.safeParse(value, ISSUES) },
          ),
        ]
      : []
  return [
    ...check('param', operation.params),
    ...(operation.query && !QUERIES[name] ? [checkQuery, ...check('query', operation.query)] : []),
    ...check('header', operation.headers),
    ...(operation.body || operation.method === 'post' ? [limitBody(operation.body_size)] : []),
    ...(operation.body ? [parseBody(operation, operation.body)] : []),
  ] as MiddlewareHandler<AppEnv>[]
}

/** Returns the name of the caller in events. */
const actorOf = (principal: Principal): string | null =>
  principal.kind === 'root' ? 'root' : principal.kind === 'public' ? null : `api_key:${principal.api_key_id}`

type Answer = Record<string, unknown>
type AnyHandler = (input: object, context: Context) => Promise<Answer>

/**
 * Adds the operations to Hono. This is the only place that connects them: it authenticates the caller, applies the rate limits, parses the input,
 * runs the handler, and encodes the response with its schema.
 */
export function mount(
  app: Hono<AppEnv>,
  operations: Operations,
  handlers: Record<string, unknown>,
  cache: IsolateCache,
): void {
  const { size } = cache
  /** A new play session costs no extra query: each one that is created updates the size for the next one. */
  const requireRoom = async ({ env, db }: Context, growth: Growth) => {
    if (growth !== 'session') await size.measured(db.$client)
    if (!hasRoom(env, size, growth)) throw storageFull()
  }
  for (const [name, operation] of Object.entries(operations)) {
    if (operation.is_report) {
      // Most reports are answered before the app is loaded (src/http/first_requests.ts).
      app.post(honoPath(operation.path), (c) => answerHeard(c, cache, c.req.param('token')!))
      continue
    }
    const handler = handlers[name] as AnyHandler
    const encode = encoder(operation.response)
    const toFile = fileResponse(operation)
    const isPublic = operation.access.length === 0
    const changes = operation.method !== 'get' && !operation.invisibleToListeners
    // A GET may detect an upload, and its statements are idempotent. A PUT writes absolute values.
    const isIdempotent = operation.method === 'get' || operation.method === 'put'
    const isBatch = typeof operation.effect === 'object'
    const emitsEvents = changes || operation.emitsEvents
    const secretOf = (c: Request) => countedPart(c.req.param(operation.secret ?? '') ?? '')
    const guard: MiddlewareHandler<AppEnv> = async (c, next) => {
      const principal = await authenticate(c.env, cache.keys, c.req.raw, operation.access)
      await limitKey(c.env, principal, clientOf(c.env, c.req.raw.headers))
      if (!isBatch) requireEffects(principal, effectsOf(operation.effect))
      c.set('principal', principal)
      c.set('organization_id', principal.organization_id)
      return next()
    }
    const checks = validate(name, operation)
    app.on(operation.method.toUpperCase(), honoPath(operation.path), guard, ...checks, async (c) => {
      const { env } = c
      const valid = (target: string) => c.req.valid(target as never)
      const input = {
        params: operation.params && valid('param'),
        query: QUERIES[name]?.(c.req.url) ?? (operation.query && valid('query')),
        headers: operation.headers && valid('header'),
        body: operation.body && valid('json'),
      }
      const encoded = (answer: object) => encode(answer, requestId(c), env.CHECK_ANSWERS === 'true')
      const send = async (answer: Answer, headers: object = {}) => {
        // The views of a new session count as if its listener had requested them. They cannot exceed the limit, because the session is new.
        if (Array.isArray(answer.views))
          await mayRead(
            env,
            countedPart(String(answer.play_session_id)),
            clientOf(env, c.req.raw.headers),
            answer.views.length,
          )
        const body = encoded(answer)
        const file = toFile(c.req.header('accept'), body)
        if (file) return file
        const etag = operation.etag && { etag: `"${operation.etag(body as never)}"` }
        return new Response(JSON.stringify(body), { headers: { ...JSON_HEADERS, ...etag, ...headers } })
      }
      if (isPublic) {
        return answerListener(
          c,
          cache,
          { secret: secretOf(c), reuse: operation.reuse !== undefined },
          (context) =>
            handler(input, {
              ...context,
              db: openDatabase(context.db.$client),
              countDownload: (downloaded) => countDownload(c, downloaded),
            }),
          encoded,
        )
      }
      const principal = c.get('principal')
      if (isBatch) requireEffects(principal, effectsOf(operation.effect, input.body))
      const context = {
        ...contextOf(c, principal, cache, openForRequest(size.watch(env.DB), isIdempotent)),
        actor: actorOf(principal),
      }
      try {
        const key = c.req.header('idempotency-key')
        // The key of a share only signs sessions, which have no rows.
        const isStored = !isShare(keyOf(principal))
        const perform = async (seed?: string) => {
          if (operation.grows && isStored) await requireRoom(context, operation.grows)
          const answer = await handler(input, seed === undefined ? context : { ...context, seed })
          if (emitsEvents && keyOf(principal)?.has_subscribers) c.executionCtx.waitUntil(wakeWebhooks(context))
          return answer
        }
        if (operation.method !== 'post' || key === undefined || !isStored) return await send(await perform())
        const request = `${c.req.path}\n${await c.req.text()}`
        const run = async (seed: string) => encoded(await perform(seed))
        const { answer, replayed } = await runIdempotent(context, key, request, input, run)
        return await send(answer, replayed ? { 'idempotency-replayed': 'true' } : {})
      } finally {
        if (changes) context.invalidate(principal.organization_id)
      }
    })
  }
}
