import type { Client } from '../../src/client/index.ts'
import { MAX_STRING } from '../../src/contract/facts.ts'
import { FeedSettings } from '../../src/contract/feed.ts'
import { createOnce } from './create_once.ts'
import type { Feed } from './feed.ts'
import { clip } from './notes.ts'
import { checked } from './service.ts'

/** Publishes an imported podcast as a feed again (docs/feeds.md). */

const TEXTS = ['author', 'email', 'language', 'category', 'link', 'copyright'] as const

/** Returns the settings of the new feed. Values that our feeds do not accept are left out. */
function settingsOf(feed: Feed) {
  const { explicit, type, medium, isPrivate: block } = feed
  const accepted = TEXTS.flatMap((name) => {
    const parsed = FeedSettings.shape[name].safeParse(feed[name] || null)
    return parsed.success ? [[name, parsed.data]] : []
  })
  return { ...Object.fromEntries(accepted), explicit, type, medium, block }
}

/** Returns the share of a new feed. */
export const shareOf = (collection_id: string, feed: Feed, text: string) => ({
  collection_id,
  is_downloadable: true,
  title: clip(feed.title, MAX_STRING) || null,
  text: text || null,
  feed: settingsOf(feed),
})

/** Creates a share with a feed for a collection that has none. Prints its address, and the facts that the directories still miss. */
export async function publishFeed(client: Client, collection_id: string, feed: Feed, text: string): Promise<void> {
  async function find() {
    const query = { resource_id: collection_id, limit: '200' } as const
    const { shares } = checked(await client.get('/v1/share', { query: query as never }))
    return shares.find((share) => share.feed) ?? null
  }
  const found = await find()
  const share_id =
    found?.id ??
    (await createOnce({
      identity: ['feed', collection_id],
      async create(idempotency_key) {
        const body = shareOf(collection_id, feed, text)
        const answer = await client.post('/v1/share', { body, idempotency_key })
        return answer.ok ? { ok: true, id: answer.share_id } : answer
      },
      find: async () => (await find())?.id ?? null,
      read: (share_id) => client.get('/v1/share/{share_id}', { params: { share_id } }),
    }))
  const { feed_url, problems } = checked(await client.get('/v1/share/{share_id}/feed', { params: { share_id } }))
  console.log(`The feed is ${feed_url}`)
  for (const { message } of problems) console.log(`  directories: ${message}`)
}
