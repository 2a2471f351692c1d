import * as z from 'zod'

/** A color as `#RRGGBB` (specification §2, ImageColor). Responses use upper case; requests may use either case. */
export const HexColor = z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a color like #1A2B3C')

/**
 * A color of a cover's palette or of a theme. `area` (the color's share of the image), `lightness` and `saturation` (HSL) are fractions from 0 to 1.
 */
export const ImageColor = z
  .object({
    hex: HexColor,
    area: z.number(),
    lightness: z.number(),
    saturation: z.number(),
  })
  .meta({ id: 'ImageColor' })
export type ImageColor = z.infer<typeof ImageColor>
