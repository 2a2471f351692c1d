import type { Operation } from '../../../src/contract/operation.ts'
import { amount, standardLimits } from '../../shared/limits.ts'

/** The limits that apply to each operation. */

const LIMITS = new Map(standardLimits().map((limit) => [limit.name, limit]))

/** Returns the limits of an operation as name, amount and scope: its own, those of its fields, and its rate. */
export function limitsOfOperation(operation: Operation): string[][] {
  const { limits = [], query, body, body_size, access, is_report } = operation
  const has = (part: Operation['body'], field: string) => part !== undefined && 'shape' in part && field in part.shape
  const names = [
    ...limits,
    ...(has(query, 'limit') ? ['page_size'] : []),
    ...(has(query, 'offset') ? ['filtered_offset'] : []),
    ...(has(query, 'q') ? ['search_words'] : []),
    ...(has(body, 'metadata') ? ['metadata_size', 'metadata_depth'] : []),
    ...(has(body, 'theme') ? ['theme_colors'] : []),
    ...(body ? [is_report ? 'heard_size' : body_size ? 'batch_body_size' : 'body_size'] : []),
    ...(is_report
      ? ['heard_rate', 'heard_organization_rate', 'miss_rate']
      : access.length > 0
        ? ['api_rate']
        : ['play_rate', 'audience_rate', 'miss_rate']),
  ]
  return names.map((name) => {
    const limit = LIMITS.get(name)
    if (!limit) throw new Error(`src/contract/limit.ts has no limit ${name}, which ${operation.path} names`)
    return [name, amount(limit.value, limit.unit), limit.applies_to]
  })
}
