import type { IsolateCache } from '../../adapters/cache/isolate_cache.ts'
import { LISTENER } from '../../core/principal.ts'
import { findEmbed, readEmbed } from '../../resources/play/session_view.ts'
import { countedPart, limitReading } from '../auth/limit_rate.ts'
import { baseUrl } from '../base_url.ts'
import { contextOf } from '../context.ts'
import type { ListenerRequest } from '../listen/answer_listener.ts'
import { readNearest } from '../listen/read_nearest.ts'
import { html } from './html.ts'
import { readLanguage } from './language.ts'
import {
  answerPage,
  attributesOf,
  framed,
  appearanceOf,
  isShown,
  preconnect,
  previewOf,
  problemPage,
  scripts,
  sessionBlock,
} from './page.ts'

/**
 * `GET /embed/{play_session_id}` is a page with a player that any page may show in a frame. It needs no key, because the id of the session is the
 * secret. `id` is an id in lower case or a signed token.
 */
export async function answerEmbed(request: ListenerRequest, cache: IsolateCache, id: string): Promise<Response> {
  const { env, req } = request
  const appearance = appearanceOf(req.url)
  const { theme } = appearance
  try {
    const { embed, view } = await limitReading(request, cache, countedPart(id), () =>
      readNearest(env, async (client) => {
        const context = contextOf(request, LISTENER, cache, client)
        return isShown(req.raw) ? readEmbed(context, id) : { embed: await findEmbed(context, id), view: null }
      }),
    )
    const { title, allowed_origins } = embed
    const language = await readLanguage(req.raw)
    const base = baseUrl(env, req.url)
    const attributes = attributesOf({ 'base-url': base, 'play-session-id': id, share: 'none', ...appearance })
    return answerPage({
      language,
      status: 200,
      title,
      theme,
      head: html`${view ? preconnect(env) : ''}${previewOf(embed, base, `${base}/embed/${id}`)}${scripts(true)}`,
      body: framed(
        title,
        language.texts.needsScript,
        attributes,
        view ? await sessionBlock(request, view) : '',
        allowed_origins ?? undefined,
      ),
      ...(allowed_origins && { ancestors: ["'self'", ...allowed_origins].join(' ') }),
    })
  } catch (error) {
    return problemPage(request, error, { theme })
  }
}
