import type { Locale } from '../../../contract/facts.ts'

/** The texts that only the pages of podcasts have. Loaded with the first of them. */
export interface PodcastTexts {
  podcast: string
  /** `n` is null for an episode without a number. */
  episode: (n: number | null) => string
  season: (n: number) => string
  trailer: string
  bonus: string
  episodes: (n: number) => string
  chapters: (n: number) => string
  hours: (n: number) => string
  minutes: (n: number) => string
  subscribe: string
}

const named = (name: string, separator: string) => (n: number | null) => (n === null ? name : `${name}${separator}${n}`)
const counted = (one: string, other: string) => (n: number) => `${n} ${n === 1 ? one : other}`
const frenchCounted = (one: string, other: string) => (n: number) => `${n} ${n < 2 ? one : other}`
/** For one and two, an Arabic noun contains the number. */
const arabicCounted = (forms: Record<Intl.LDMLPluralRule, string>) => (n: number) =>
  forms[new Intl.PluralRules('ar').select(n)].replace('{}', `${n}`)

export const PODCAST_TEXTS: Record<Locale, PodcastTexts> = {
  en: {
    podcast: 'Podcast',
    episode: named('Episode', ' '),
    season: named('Season', ' '),
    trailer: 'Trailer',
    bonus: 'Bonus',
    episodes: counted('episode', 'episodes'),
    chapters: counted('chapter', 'chapters'),
    hours: (n) => `${n} hr`,
    minutes: (n) => `${n} min`,
    subscribe: 'Subscribe (RSS)',
  },
  de: {
    podcast: 'Podcast',
    episode: named('Folge', ' '),
    season: named('Staffel', ' '),
    trailer: 'Trailer',
    bonus: 'Bonus',
    episodes: counted('Folge', 'Folgen'),
    chapters: counted('Kapitel', 'Kapitel'),
    hours: (n) => `${n} Std.`,
    minutes: (n) => `${n} Min.`,
    subscribe: 'Abonnieren (RSS)',
  },
  fr: {
    podcast: 'Podcast',
    episode: named('Épisode', ' '),
    season: named('Saison', ' '),
    trailer: 'Bande-annonce',
    bonus: 'Bonus',
    episodes: frenchCounted('épisode', 'épisodes'),
    chapters: frenchCounted('chapitre', 'chapitres'),
    hours: (n) => `${n} h`,
    minutes: (n) => `${n} min`,
    subscribe: 'S’abonner (RSS)',
  },
  es: {
    podcast: 'Pódcast',
    episode: named('Episodio', ' '),
    season: named('Temporada', ' '),
    trailer: 'Tráiler',
    bonus: 'Extra',
    episodes: counted('episodio', 'episodios'),
    chapters: counted('capítulo', 'capítulos'),
    hours: (n) => `${n} h`,
    minutes: (n) => `${n} min`,
    subscribe: 'Suscribirse (RSS)',
  },
  ja: {
    podcast: 'ポッドキャスト',
    episode: (n) => (n === null ? 'エピソード' : `第${n}話`),
    season: (n) => `シーズン${n}`,
    trailer: '予告編',
    bonus: '特別編',
    episodes: (n) => `エピソード${n}本`,
    chapters: (n) => `チャプター${n}個`,
    hours: (n) => `${n}時間`,
    minutes: (n) => `${n}分`,
    subscribe: '購読 (RSS)',
  },
  ar: {
    podcast: 'بودكاست',
    episode: named('الحلقة', ' '),
    season: named('الموسم', ' '),
    trailer: 'إعلان ترويجي',
    bonus: 'حلقة إضافية',
    episodes: arabicCounted({
      zero: '{} حلقة',
      one: 'حلقة واحدة',
      two: 'حلقتان',
      few: '{} حلقات',
      many: '{} حلقة',
      other: '{} حلقة',
    }),
    chapters: arabicCounted({
      zero: '{} فصل',
      one: 'فصل واحد',
      two: 'فصلان',
      few: '{} فصول',
      many: '{} فصلًا',
      other: '{} فصل',
    }),
    hours: (n) => `${n} س`,
    minutes: (n) => `${n} د`,
    subscribe: 'اشتراك (RSS)',
  },
}
