import * as z from 'zod'

/** A color as `#RRGGBB` (specification §2, ImageColor). Upper-case on output; either case is accepted on input. */
export const HexColor = z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a color like #1A2B3C')

/** One color of a cover's palette or of a theme. `area`, `lightness` and `saturation` are fractions from 0 to 1 (HSL). */
export const ImageColor = z
  .object({
    hex: HexColor,
    area: z.number(),
    lightness: z.number(),
    saturation: z.number(),
  })
  .meta({ id: 'ImageColor' })
export type ImageColor = z.infer<typeof ImageColor>
