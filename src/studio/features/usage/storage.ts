import { t } from '../../base/text.ts'
import type { Usage } from '../../data/usage.ts'

/** Returns the stored bytes of the uploaded files and of each variant, the largest first. Those after the first `count` are added up. */
export function storageParts({ bytes, tracks, variants }: Omit<Usage, 'days'>, count = Infinity) {
  const parts = [
    { name: t('Uploaded files'), value: bytes.original, files: tracks },
    ...variants.map(({ variant, bytes: value, files }) => ({ name: variant, value, files })),
  ].toSorted((a, b) => b.value - a.value)
  const rest = parts.slice(count)
  if (rest.length < 2) return parts
  const value = rest.reduce((sum, part) => sum + part.value, 0)
  const files = rest.reduce((sum, part) => sum + part.files, 0)
  return [...parts.slice(0, count), { name: t('Other variants'), value, files }]
}
