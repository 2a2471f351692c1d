import type { Handlers } from '../context.ts'
import { CATALOGUE, type variantOperations } from '../contract/variant.ts'
import { notFound } from '../errors.ts'

export const variantHandlers: Handlers<typeof variantOperations> = {
  listVariants: async ({ query }) => ({
    count: CATALOGUE.length,
    variants: CATALOGUE.slice(query.offset, query.offset + query.limit),
  }),

  async getVariant({ params }) {
    const variant = CATALOGUE.find((v) => v.id === params.variant_id)
    if (!variant) throw notFound('variant')
    return { variant_id: variant.id, variant }
  },
}
