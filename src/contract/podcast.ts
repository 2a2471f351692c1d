/**
 * Facts about podcasts, and the check of a feed against the rules of directories (docs/feeds.md#before-you-submit-it). The studio loads this file, so it
 * must not import zod.
 */

/** Apple's categories (Podcasts Connect, Apple Podcasts categories), each with its subcategories. */
const APPLE_CATEGORIES = {
  Arts: 'Books, Design, Fashion & Beauty, Food, Performing Arts, Visual Arts',
  Business: 'Careers, Entrepreneurship, Investing, Management, Marketing, Non-Profit',
  Comedy: 'Comedy Interviews, Improv, Stand-Up',
  Education: 'Courses, How To, Language Learning, Self-Improvement',
  Fiction: 'Comedy Fiction, Drama, Science Fiction',
  Government: '',
  'Health & Fitness': 'Alternative Health, Fitness, Medicine, Mental Health, Nutrition, Sexuality',
  History: '',
  'Kids & Family': 'Education for Kids, Parenting, Pets & Animals, Stories for Kids',
  Leisure: 'Animation & Manga, Automotive, Aviation, Crafts, Games, Hobbies, Home & Garden, Video Games',
  Music: 'Music Commentary, Music History, Music Interviews',
  News: 'Business News, Daily News, Entertainment News, News Commentary, Politics, Sports News, Tech News',
  'Religion & Spirituality': 'Buddhism, Christianity, Hinduism, Islam, Judaism, Religion, Spirituality',
  Science:
    'Astronomy, Chemistry, Earth Sciences, Life Sciences, Mathematics, Natural Sciences, Nature, Physics, Social Sciences',
  'Society & Culture': 'Documentary, Personal Journals, Philosophy, Places & Travel, Relationships',
  Sports:
    'Baseball, Basketball, Cricket, Fantasy Sports, Football, Golf, Hockey, Rugby, Running, Soccer, Swimming, Tennis, Volleyball, Wilderness, Wrestling',
  Technology: '',
  'True Crime': '',
  'TV & Film': 'After Shows, Film History, Film Interviews, Film Reviews, TV Reviews',
} as const

/** Separates a category from its subcategory. */
export const SUBCATEGORY = ' > '

/** The names in a list that commas separate. */
type Names<List extends string> = List extends `${infer Name}, ${infer Others}`
  ? Name | Names<Others>
  : Exclude<List, ''>
type Categories = typeof APPLE_CATEGORIES
export type PodcastCategory = {
  [C in keyof Categories]: C | `${C} > ${Names<Categories[C]>}`
}[keyof Categories]

/** All values of `category`: `Arts`, `Arts > Books`, … */
export const PODCAST_CATEGORIES = Object.entries(APPLE_CATEGORIES).flatMap(([category, list]) => [
  category,
  ...list
    .split(', ')
    .filter(Boolean)
    .map((name) => category + SUBCATEGORY + name),
]) as PodcastCategory[]

/** Minimum edge length of a cover in pixels, and maximum bytes of the text about a podcast (Podcasts Connect Help, RSS show tags). */
export const MIN_PODCAST_COVER = 1400
export const MAX_PODCAST_TEXT = 4000

/** The faults of a feed for which a directory refuses it, by code. */
export const FEED_PROBLEMS = {
  not_https: 'The address of the service does not start with https:',
  is_private: 'The feed is private (block), so directories do not list it',
  ends: 'The share ends (expires_at), and the feed with it',
  no_author: 'The feed has no author',
  no_email: 'The feed has no email, with which directories verify the owner',
  no_language: 'The feed has no language',
  no_category: 'The feed has no category',
  no_text: 'The share has no text, which is the description of the podcast',
  long_text: `The text of the share is longer than ${MAX_PODCAST_TEXT} bytes`,
  small_cover: `The cover is smaller than ${MIN_PODCAST_COVER} pixels`,
  no_episodes: 'No episode is published',
  no_number: 'An episode of a serial feed has no number',
  no_file: 'An episode has neither an MP3 nor an M4A variant',
} as const
export type FeedProblemCode = keyof typeof FEED_PROBLEMS

/** A fault, with the episodes that have it if it is one of episodes. */
export interface FeedProblem {
  code: FeedProblemCode
  message: string
  track_ids: string[]
}

/** The part of a feed that the check reads. */
export interface CheckedFeed {
  address: string
  expires_at: number | null
  text: string | null
  feed: Record<'author' | 'email' | 'language' | 'category', string | null> & { type: string; block: boolean }
  /** Edge length of the cover in pixels. */
  cover_size: number
  episodes: readonly { id: string; type: string; number: number | null; format: string }[]
}

/** Returns the faults for which Apple or Spotify would refuse a feed. */
export function feedProblems({ address, expires_at, text, feed, cover_size, episodes }: CheckedFeed): FeedProblem[] {
  const idsOf = (has: (episode: CheckedFeed['episodes'][number]) => boolean) => episodes.filter(has).map(({ id }) => id)
  const found: Record<FeedProblemCode, boolean | string[]> = {
    not_https: !address.startsWith('https:'),
    is_private: feed.block,
    ends: expires_at !== null,
    no_author: feed.author === null,
    no_email: feed.email === null,
    no_language: feed.language === null,
    no_category: feed.category === null,
    no_text: text === null,
    long_text: new TextEncoder().encode(text ?? '').length > MAX_PODCAST_TEXT,
    small_cover: cover_size < MIN_PODCAST_COVER,
    no_episodes: episodes.length === 0,
    no_number: feed.type === 'serial' ? idsOf(({ type, number }) => type === 'full' && number === null) : [],
    no_file: idsOf(({ format }) => format !== 'mp3' && format !== 'm4a'),
  }
  return (Object.keys(FEED_PROBLEMS) as FeedProblemCode[]).flatMap((code) => {
    const ids = found[code]
    const track_ids = Array.isArray(ids) ? ids : []
    return ids === true || track_ids.length > 0 ? [{ code, message: FEED_PROBLEMS[code], track_ids }] : []
  })
}
