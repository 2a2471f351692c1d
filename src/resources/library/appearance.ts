import type { ImageColor } from '../../contract/color.ts'
import { DEFAULT_COLOR, withoutExtension } from '../../contract/facts.ts'
import type { Tags } from '../../contract/info.ts'

/**
 * How a track looks to listeners (docs/architecture.md#inheritance). Color, theme and cover are inherited from the organization by the collection and
 * from the collection by the track; `is_*_overridable: false` on a level hides the values of the levels below it. Titles and subtitles always come
 * from the nearest level. The tags of a file are used only where the value is not set on the track.
 */

export interface Settings {
  player_color: string | null
  player_subtitle: string | null
}
interface Level extends Settings {
  is_theme_overridable: boolean
  is_cover_overridable: boolean
}
interface Covered extends Level {
  cover_path: string | null
  cover_size: number | null
  cover_colors: ImageColor[]
}
interface Named extends Settings {
  player_title: string | null
  file_name: string
  tags: Pick<Tags, 'title' | 'artist' | 'album_artist'> | null
}
export interface LabelSources {
  organization: Settings & Pick<Level, 'is_theme_overridable'> & { uses_tags: boolean }
  collection: Settings & { is_theme_overridable: boolean | 0 | 1 }
  /** Only set in the session of a playlist. The playlist is a level between the collection and the organization. */
  playlist: Settings | null
  track: Named
}
export interface AppearanceSources extends LabelSources {
  organization: Level & { theme: string[]; uses_tags: boolean }
  collection: Covered & { theme: string[] }
  playlist: (Settings & Pick<Covered, 'cover_path' | 'cover_size' | 'cover_colors'> & { theme: string[] }) | null
  track: Covered & Named
}

const channels = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)

/**
 * Returns the colors of a theme in the response format: every color has the same share of the area, and lightness and saturation are as defined by
 * HSL, 0–1.
 */
export function themeColors(theme: string[]): ImageColor[] {
  return theme.map((hex) => {
    const values = channels(hex)
    const max = Math.max(...values)
    const min = Math.min(...values)
    const lightness = (max + min) / 2
    const saturation = max === min ? 0 : (max - min) / (1 - Math.abs(2 * lightness - 1))
    return {
      hex: hex.toUpperCase(),
      area: round(1 / theme.length),
      lightness: round(lightness),
      saturation: round(saturation),
    }
  })
}
const round = (value: number) => Math.round(value * 1e4) / 1e4

/** Whether white text is easier to read on a color than black text, by the contrast ratio of their relative luminances (WCAG 2.2 §1.4.3). */
export function isDark(hex: string): boolean {
  const [r, g, b] = channels(hex).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ]
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05
}

/** Returns the colors of an explicit theme, or else the palette of the cover. */
export const imageColors = (owner: { theme: string[]; cover_colors: ImageColor[] }) =>
  owner.theme.length > 0 ? themeColors(owner.theme) : owner.cover_colors

/** Returns the title that listeners see. */
export const trackTitle = ({ player_title, tags, file_name }: Omit<Named, keyof Settings>, uses_tags: boolean) =>
  player_title ?? (uses_tags ? tags?.title : null) ?? withoutExtension(file_name)

/** Returns the effective title, subtitle and color of a track, which is everything that lists show. */
export function labelsOf({ organization, collection, playlist, track }: LabelSources) {
  const themed = organization.is_theme_overridable
  const { artist, album_artist } = (organization.uses_tags && track.tags) || {}
  return {
    player_title: trackTitle(track, organization.uses_tags),
    player_subtitle:
      track.player_subtitle ??
      artist ??
      album_artist ??
      collection.player_subtitle ??
      playlist?.player_subtitle ??
      organization.player_subtitle,
    player_color:
      (themed &&
        ((collection.is_theme_overridable && track.player_color) ||
          collection.player_color ||
          playlist?.player_color)) ||
      organization.player_color ||
      DEFAULT_COLOR,
  }
}

interface Cover {
  cover_path: string | null
  /** These are missing if the query does not select them. */
  cover_size?: number | null
  cover_colors?: ImageColor[]
}
type Overrides = Pick<Level, 'is_cover_overridable'>
interface Covers {
  organization: Overrides
  collection: Cover & Overrides
  playlist: Cover | null
  track: Cover
}

/** Returns the cover of the nearest level that has one and whose cover is not hidden by a level above. */
export function effectiveCover({ organization, collection, playlist, track }: Covers): Cover {
  // An organization itself has no cover, so its `false` hides the covers of tracks but not those of collections.
  const mayOverride = organization.is_cover_overridable && collection.is_cover_overridable
  return [mayOverride ? track : null, collection, playlist].find((level) => level?.cover_path) ?? { cover_path: null }
}

/** Returns the appearance of a track, including everything that it inherits. */
export function appearance(levels: AppearanceSources) {
  const { organization, collection, playlist, track } = levels
  const themed = organization.is_theme_overridable
  const palettes = [
    themed && collection.is_theme_overridable && track.cover_colors,
    themed && imageColors(collection),
    themed && playlist && imageColors(playlist),
    themeColors(organization.theme),
  ]
  const labels = labelsOf(levels)
  const { cover_path, cover_size = null } = effectiveCover(levels)
  return {
    ...labels,
    image_colors: palettes.find((colors) => colors && colors.length > 0) || [],
    is_dark: isDark(labels.player_color),
    cover_path,
    cover_size,
  }
}
