import type { Handlers } from '../../context.ts'
import type { feedOperations } from '../../contract/feed.ts'
import { feedProblems } from '../../contract/podcast.ts'
import { findShare } from './share.ts'

export const feedHandlers: Handlers<typeof feedOperations> = {
  async checkFeed({ params: { share_id } }, context) {
    const { slug } = await findShare(context, share_id)
    const { readFeed } = await import('./feed.ts')
    const { share, feed, address, cover_size, episodes } = await readFeed(context, slug)
    const { expires_at, text } = share
    const listed = episodes.map(({ id, type, number, file }) => ({ id, type, number, format: file.format }))
    const problems = feedProblems({ address, expires_at, text, feed, cover_size, episodes: listed })
    return { share_id, feed_url: address, episodes: episodes.length, problems }
  },
}
