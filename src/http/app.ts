import { Hono, type MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'

import type { IsolateCache } from '../adapters/cache/isolate_cache.ts'
import { operations } from '../contract/index.ts'
import { ApiError } from '../core/errors.ts'
import { handlers } from '../resources/index.ts'
import { errorResponse, HEADERS, requestId } from './answer.ts'
import { mountCoverUpload } from './api/cover_upload.ts'
import { honoPath, mount } from './api/mount.ts'
import { nearestPath } from './api/nearest.ts'
import { mountBackup } from './backup.ts'
import { mountChapterFiles } from './chapter_file.ts'
import type { AppEnv } from './context.ts'
import { mountHealth } from './health.ts'
import { logRequest } from './log_request.ts'
import { mountMcp } from './mcp/mcp.ts'
import { mountMetrics } from './metrics.ts'
import { mountOembed } from './pages/oembed.ts'
import { mountPages } from './pages/share.ts'
import { mountZip } from './zip.ts'

const PREFLIGHT = {
  ...HEADERS,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-Match',
  'access-control-max-age': '86400',
}

/** Creates the HTTP app with all operations of the table, and with the few routes that are not JSON operations. */
export function createApp(cache: IsolateCache) {
  const app = new Hono<AppEnv>()
  app.use(logged)
  app.options('/v1/*', () => new Response(null, { status: 204, headers: PREFLIGHT }))

  mountHealth(app)
  mountMetrics(app)
  mountBackup(app, cache)

  mount(app, operations, handlers, cache)
  mountCoverUpload(app, cache)
  mountOembed(app, cache)
  mountPages(app, cache)
  mountZip(app, cache)
  mountChapterFiles(app, cache)
  mountMcp(app, cache)

  const methods = new Map<string, string[]>()
  for (const { method, path } of Object.values(operations)) {
    // Operations may have different names for the same path parameter.
    const route = honoPath(path).replace(/:\w+/g, ':_')
    methods.set(route, [...(methods.get(route) ?? []), method.toUpperCase()])
  }
  // Fixed paths are added first, because a path with a parameter would also match them. A fixed path also allows the methods of such a path.
  for (const path of [...methods.keys()].toSorted((a, b) => Number(a.endsWith(':_')) - Number(b.endsWith(':_')))) {
    app.all(path, () => {
      const allowed = [...methods].flatMap(([route, routeMethods]) => (matchesRoute(path, route) ? routeMethods : []))
      const allow = [...new Set(allowed)].join(', ')
      throw new ApiError('method_not_allowed', `This path answers ${allow} only`, undefined, { allow })
    })
  }
  const paths = Object.values(operations).map(({ path }) => path)
  app.notFound((c) => {
    const suggestion = nearestPath(c.req.path, paths)
    const message = `There is nothing at this path${suggestion ? `. Did you mean ${suggestion}?` : ''}`
    return errorResponse(new ApiError('not_found', message), c.env, c.req.raw, requestId(c))
  })
  app.onError((error, c) => errorResponse(error, c.env, c.req.raw, requestId(c)))
  return app
}

const matchesRoute = (path: string, route: string) => new RegExp(`^${route.replaceAll(':_', '[^/]+')}$`).test(path)

const logged: MiddlewareHandler<AppEnv> = async (c, next) => {
  const started_at = Date.now()
  await next()
  const organization_id = c.get('organization_id') || undefined
  // The route of the last handler that matched the request.
  const route = routePath(c)
  logRequest(c.env, {
    api_request_id: requestId(c),
    method: c.req.method,
    route,
    status: c.res.status,
    started_at,
    organization_id,
  })
}
