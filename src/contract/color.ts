import * as z from 'zod'

/** A color as `#RRGGBB`. Responses use upper case; requests may use either case. */
export const HexColor = z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a color like #1A2B3C')

/** A color of a cover's palette, or of the theme that replaces it. */
export const ImageColor = z
  .object({
    hex: HexColor,
    /** The color's share of the image, from 0 to 1. The colors of a theme have equal shares. */
    area: z.number(),
    /** HSL lightness, from 0 (black) to 1 (white). */
    lightness: z.number(),
    /** HSL saturation, from 0 (gray) to 1. */
    saturation: z.number(),
  })
  .meta({ id: 'ImageColor' })
export type ImageColor = z.infer<typeof ImageColor>
