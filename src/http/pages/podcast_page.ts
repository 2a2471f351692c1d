import type { readShare } from '../../resources/play/shared_session.ts'
import type { Embed } from '../../resources/share/embed.ts'
import { html } from './html.ts'
import type { PageLanguage } from './language.ts'
import { PODCAST_TEXTS, type PodcastTexts } from './texts/podcast.ts'

/** The parts of a page that only a podcast has: a share with a feed, or of a track with an episode. Loaded with the first of these pages. */

/** The space within a fact, so that a narrow page breaks the line only between facts. */
const NO_BREAK = '\u00a0'

/** The share, its contents and the language of the page. */
export interface PodcastPage extends Pick<Awaited<ReturnType<typeof readShare>>, 'share' | 'view'> {
  embed: Embed
  /** The URL of the page. */
  address: string
  language: PageLanguage
}

/** Returns the functions and texts for the page of a podcast or of an episode. */
export function podcastParts({ share, embed: { scope, episode }, view, address, language: { locale } }: PodcastPage) {
  const texts = PODCAST_TEXTS[locale]
  const chapters = view?.first_track?.chapters.length ?? 0

  /** Returns the facts below the title. */
  function details(total: number, seconds: number): string[] {
    if (scope !== 'track') return [texts.podcast, texts.episodes(total)]
    const { type = 'full', season = null, number = null, published_at = null, created_at = null } = episode ?? {}
    const time = published_at ?? created_at
    return [
      season === null ? '' : texts.season(season),
      type === 'full' ? texts.episode(number) : texts[type],
      time === null ? '' : dateOf(time, locale),
      seconds > 0 ? lengthOf(seconds, texts) : '',
      chapters > 1 ? texts.chapters(chapters) : '',
    ].map((fact) => fact.replaceAll(' ', NO_BREAK))
  }

  return {
    details,
    /** The notes of an episode, which its page shows if the share has no text. */
    notes: episode?.description ?? null,
    subscribe:
      share.feed && !share.feed.block
        ? html`<a href="${address}/feed.xml" type="application/rss+xml">${texts.subscribe}</a>`
        : '',
  }
}

/** Returns a duration in hours and minutes, such as `1 hr 12 min`. Less than a minute counts as one. */
function lengthOf(seconds: number, texts: PodcastTexts): string {
  const total = Math.max(1, Math.round(seconds / 60))
  const [hours, minutes] = [Math.floor(total / 60), total % 60]
  return [hours > 0 ? texts.hours(hours) : '', minutes > 0 ? texts.minutes(minutes) : ''].filter(Boolean).join(' ')
}

/** Returns a day in a language. Its digits are those of the other numbers on the page. */
const dateOf = (time: string | number, locale: string) =>
  new Intl.DateTimeFormat(`${locale}-u-nu-latn`, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(time))
