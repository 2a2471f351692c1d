import * as z from 'zod'

import { Id, named, ok, RequiredTitle, Timestamp, urlOf } from './common.ts'
import { MAX_EMAIL, MAX_EPISODE_NUMBER, MAX_EPISODE_TEXT, MAX_LINK_URL } from './facts.ts'
import { defineOperations } from './operation.ts'
import { FEED_PROBLEMS, type FeedProblemCode, PODCAST_CATEGORIES } from './podcast.ts'
import { severalLines } from './text.ts'

/** `episodic`: newest first. `serial`: in the order of the list, for stories that are heard from the start. */
const FeedType = z.enum(['episodic', 'serial'])
/** The kind of the content, which apps use to choose how they show it (`podcast:medium`). */
const Medium = z.enum(['podcast', 'music', 'audiobook'])
const Category = z.enum(PODCAST_CATEGORIES, {
  error: "must be one of Apple's categories, such as `Arts` or `Arts > Books`; docs/feeds.md lists them",
})
const Language = z
  .string()
  .max(35)
  .regex(/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i, 'must be a language tag such as en or pt-BR')
const Email = z.email().max(MAX_EMAIL)
const Link = urlOf(/^https?$/, 'https: or http:', MAX_LINK_URL)

/** The podcast feed of a share (docs/feeds.md). Its title, description and cover are those of the share's page. */
export const Feed = named('Feed', {
  /** Name of the people who make the podcast; null if the feed has none. */
  author: z.string().nullable(),
  /** Address at which directories reach the owner; null if the feed has none. Everyone can read it in the feed. */
  email: z.string().nullable(),
  /** A language tag such as `en` or `pt-BR`; null if the feed has none. */
  language: z.string().nullable(),
  /** One of Apple's categories, such as `Arts` or `Arts > Books`; null if the feed has none. */
  category: z.string().nullable(),
  /** Whether episodes are for adults, unless they say otherwise. */
  explicit: z.boolean(),
  type: FeedType,
  /** Website of the podcast; null for the page of the share. */
  link: z.string().nullable(),
  /** A notice such as `© 2027 Our Label`; null if the feed has none. */
  copyright: z.string().nullable(),
  /** Whether the feed is private: directories are asked not to list it. */
  block: z.boolean(),
  /** Whether other podcast services are asked not to import the feed. Only a feed with `email` says it. */
  locked: z.boolean(),
  medium: Medium,
})
export type Feed = z.infer<typeof Feed>

/** A podcast feed as requests set it, always as a whole: omitted fields get their default. */
export const FeedSettings = z
  .strictObject({
    /** Name of the people who make the podcast, on one line. */
    author: RequiredTitle.nullable().default(null),
    /** Address at which directories reach the owner. Everyone can read it in the feed. */
    email: Email.nullable().default(null),
    /** A language tag such as `en` or `pt-BR`. */
    language: Language.nullable().default(null),
    /** One of Apple's categories, such as `Arts` or `Arts > Books`. */
    category: Category.nullable().default(null),
    /** Whether episodes are for adults, unless they say otherwise; false by default. */
    explicit: z.boolean().default(false),
    /** `episodic`, the default: newest first. `serial`: in the order of the list, for stories that are heard from the start. */
    type: FeedType.default('episodic'),
    /** Website of the podcast; by default, the page of the share. */
    link: Link.nullable().default(null),
    /** A notice such as `© 2027 Our Label`, on one line. */
    copyright: RequiredTitle.nullable().default(null),
    /** True for a private feed: directories are asked not to list it. */
    block: z.boolean().default(false),
    /** Whether other podcast services are asked not to import the feed; true by default. Only a feed with `email` says it. */
    locked: z.boolean().default(true),
    /** The kind of the content, which apps use to choose how they show it; `podcast` by default. */
    medium: Medium.default('podcast'),
  })
  .meta({ id: 'FeedSettings' })

/** `full`: a whole episode. `trailer`, `bonus`: an announcement, or an extra. */
const EpisodeType = z.enum(['full', 'trailer', 'bonus'])

/** Facts about a track that only podcast feeds show (docs/feeds.md). */
export const Episode = named('Episode', {
  /** Number of the season; null if there are none. */
  season: z.int().nullable(),
  /** Number of the episode, in its season if there are seasons; null if it has none. */
  number: z.int().nullable(),
  type: EpisodeType,
  /** Whether the episode is for adults; null if it is as the feed says. */
  explicit: z.boolean().nullable(),
  /** The notes of the episode, in paragraphs that empty lines separate: `**strong**`, `*emphasis*` and `[links](https://example.com)`. */
  description: z.string().nullable(),
  /** When the episode appears in feeds; null if it does once it is ready, with the time at which the track was created. */
  published_at: Timestamp.nullable(),
})
export type Episode = z.infer<typeof Episode>

const number = z.int().min(1).max(MAX_EPISODE_NUMBER).nullable().default(null)

/** An episode as requests set it, always as a whole: omitted fields get their default. */
export const EpisodeSettings = z
  .strictObject({
    /** Number of the season. */
    season: number,
    /** Number of the episode, in its season if there are seasons. */
    number,
    /** `full`, the default: a whole episode. `trailer`, `bonus`: an announcement, or an extra. */
    type: EpisodeType.default('full'),
    /** Whether the episode is for adults; by default as the feed says. */
    explicit: z.boolean().nullable().default(null),
    /** Notes up to 10,000 characters: paragraphs, `**strong**`, `*emphasis*` and `[links](https://example.com)`. */
    description: z.string().overwrite(severalLines).min(1).max(MAX_EPISODE_TEXT).nullable().default(null),
    /** When the episode appears in feeds; by default once it is ready, with the time at which the track was created. */
    published_at: z.iso
      .datetime({ offset: true })
      .overwrite((time) => (Number.isNaN(Date.parse(time)) ? time : new Date(time).toISOString()))
      .nullable()
      .default(null),
  })
  .meta({ id: 'EpisodeSettings' })

/** A reason for which directories refuse a feed. */
export const FeedProblem = named('FeedProblem', {
  /** Identifies the kind of the problem. */
  code: z.enum(Object.keys(FEED_PROBLEMS) as FeedProblemCode[]),
  /** The problem, for people. */
  message: z.string(),
  /** The episodes that have the problem; empty if it is one of the whole feed. */
  track_ids: z.array(z.uuid()),
})

export const feedOperations = defineOperations({
  checkFeed: {
    method: 'get',
    path: '/v1/share/{share_id}/feed',
    summary: 'Check the podcast feed of a share: what directories would refuse',
    tag: 'Shares',
    access: ['server'],
    effect: 'read',
    guide: 'feeds',
    params: z.object({
      /** As returned when the share was created; not its slug. */
      share_id: Id,
    }),
    response: ok({
      /** As in the path. */
      share_id: z.uuid(),
      /** Address of the feed, for podcast apps and directories. */
      feed_url: z.url(),
      /** Number of episodes in the feed now. */
      episodes: z.int(),
      /** Why Apple or Spotify would refuse the feed; empty if nothing is known. */
      problems: z.array(FeedProblem),
    }),
    errors: ['not_found'],
  },
})
