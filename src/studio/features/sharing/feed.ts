import type { FeedProblemCode, PodcastCategory } from '../../../contract/podcast.ts'
import type { ShareLink } from '../../base/api.ts'
import { text } from '../../base/text.ts'

/** The podcast feed of a link, as the user edits it. */
export interface FeedDraft {
  author: string
  email: string
  language: string
  category: string
  link: string
  copyright: string
  type: 'episodic' | 'serial'
  explicit: boolean
  block: boolean
}
type Feed = NonNullable<ShareLink['feed']>

/** Returns the settings of a feed, or those of a new feed. */
export const feedDraft = (feed: Feed | null | undefined): FeedDraft => ({
  author: feed?.author ?? '',
  email: feed?.email ?? '',
  language: feed?.language ?? '',
  category: feed?.category ?? '',
  link: feed?.link ?? '',
  copyright: feed?.copyright ?? '',
  type: feed?.type ?? 'episodic',
  explicit: feed?.explicit ?? false,
  block: feed?.block ?? false,
})

/** Returns the feed in the format of the API. The settings that the form does not have stay as they are. */
export const feedSettings = (
  { type, explicit, block, ...texts }: FeedDraft,
  before: Feed | null | undefined,
): Feed & { category: PodcastCategory | null } => ({
  locked: before?.locked ?? true,
  medium: before?.medium ?? 'podcast',
  type,
  explicit,
  block,
  author: texts.author.trim() || null,
  email: texts.email.trim() || null,
  language: texts.language.trim() || null,
  // The field offers no other values.
  category: (texts.category || null) as PodcastCategory | null,
  link: texts.link.trim() || null,
  copyright: texts.copyright.trim() || null,
})

/** Advice for the faults of a feed. */
export const PROBLEM_TEXTS: Record<FeedProblemCode, string> = {
  not_https: text('The address of this service does not start with https, so directories cannot read the feed.'),
  is_private: text('The feed is private, so directories do not list it.'),
  ends: text('This link ends, and the feed with it.'),
  no_author: text('Enter an author.'),
  no_email: text('Enter an email address, with which directories verify you.'),
  no_language: text('Enter a language.'),
  no_category: text('Choose a category.'),
  no_text: text('Write a text for the page. It is also the description of the podcast.'),
  long_text: text('Shorten the text on the page: Apple takes 4,000 bytes.'),
  small_cover: text('Upload a cover of at least 1,400 × 1,400 pixels.'),
  no_episodes: text('No episode is published yet.'),
  no_number: text('Give each episode a number on its page, because this podcast is heard from the first to the last.'),
  no_file: text('Some episodes have neither an MP3 nor an M4A file. Add such a variant.'),
}
