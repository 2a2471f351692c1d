/** The effects of operations, which are also the rights of server keys (docs/keys.md#keys-that-may-do-less). It has its own file because the studio reads it without zod. */

export const EFFECTS = ['read', 'write', 'delete'] as const
/**
 * `delete` removes or replaces a resource, an uploaded file, a cover, a secret, the progress of a listener or the trash. `write` makes every other change, and creates what gives access to audio,
 * such as play sessions and ZIPs. `read` is everything else.
 */
export type Effect = (typeof EFFECTS)[number]

/** The effect of an operation. `all`: it manages keys, so it needs all effects. An object: the operation is a batch, and each of its actions has an effect. */
export type OperationEffect = Effect | 'all' | Readonly<Record<string, Effect>>

/** Returns the effects of a request to an operation. Those of a batch are the effects of its `changes`. */
export function effectsOf(effect: OperationEffect, body?: unknown): readonly Effect[] {
  if (effect === 'all') return EFFECTS
  if (typeof effect === 'string') return [effect]
  const { changes } = body as { changes: { action: string }[] }
  return EFFECTS.filter((one) => changes.some(({ action }) => effect[action] === one))
}
