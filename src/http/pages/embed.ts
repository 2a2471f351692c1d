import type { Hono } from 'hono'
import { html } from 'hono/html'

import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { openDatabase } from '../../adapters/db/database.ts'
import { Id } from '../../contract/common.ts'
import { notFound } from '../../core/errors.ts'
import { LISTENER } from '../../core/principal.ts'
import { findEmbed } from '../../resources/share/embed.ts'
import { limitReading } from '../auth/limit_rate.ts'
import { baseUrl } from '../base_url.ts'
import { type AppEnv, contextOf } from '../context.ts'
import { readNearest } from '../listen/read_nearest.ts'
import { answerPage, attributesOf, framed, appearanceOf, previewOf, problemPage, scripts } from './page.ts'

/**
 * `GET /embed/{play_session_id}` is a page with a player that any page may show in a frame. It needs no key, because the id of the session is the
 * secret.
 */
export function mountEmbed(app: Hono<AppEnv>, cache: IsolateCache): void {
  app.get('/embed/:play_session_id', async (c) => {
    const appearance = appearanceOf(c.req.url)
    const { theme } = appearance
    try {
      const id = Id.safeParse(c.req.param('play_session_id'))
      if (!id.success) throw notFound('play session')
      const embed = await limitReading(c, cache, id.data, () =>
        readNearest(c.env, ({ $client }) => findEmbed(contextOf(c, LISTENER, cache, openDatabase($client)), id.data)),
      )
      const { title } = embed
      const base = baseUrl(c.env, c.req.url)
      const attributes = attributesOf({ 'base-url': base, 'play-session-id': id.data, ...appearance })
      return await answerPage(c, {
        status: 200,
        title,
        theme,
        head: html`${previewOf(embed, base, `${base}/embed/${id.data}`)}${scripts(true)}`,
        body: framed(title, attributes),
      })
    } catch (error) {
      return problemPage(c, error, { theme })
    }
  })
}
