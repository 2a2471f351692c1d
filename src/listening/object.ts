import { DurableObject } from 'cloudflare:workers'

import type { ListeningEngine } from './engine.ts'

/** The methods of the engine that the Worker calls. */
export type ListeningCalls = Pick<
  ListeningEngine,
  | 'heard'
  | 'download'
  | 'has'
  | 'stats'
  | 'top'
  | 'counts'
  | 'curve'
  | 'progress'
  | 'forget'
  | 'alarm'
  | 'copy'
  | 'restore'
  | 'erase'
>

/**
 * The Durable Object of an organization's listening, or of a shard of it (docs/decisions/0102). The code of the engine is loaded on first use, because a new
 * isolate of the Worker loads this class before its first play view (docs/decisions/0029).
 */
export class ListeningObject extends DurableObject<Env> {
  #engine: Promise<ListeningEngine> | undefined

  /** Returns the engine, which reads its log first. */
  #open(): Promise<ListeningEngine> {
    this.#engine ??= import('./engine.ts')
      .then(({ ListeningEngine }) => new ListeningEngine(this.ctx, this.env))
      .catch((error: unknown) => {
        // The next call gets a new object.
        this.ctx.abort()
        throw error
      })
    return this.#engine
  }

  /** Calls a method of the engine; see `listeningObject`. */
  async call(method: keyof ListeningCalls, parameters: unknown[]): Promise<unknown> {
    const engine = await this.#open()
    const result: unknown = await (engine[method] as (...all: unknown[]) => unknown)(...parameters)
    if (method === 'erase' || method === 'restore') this.#engine = undefined
    return result
  }

  override async alarm(): Promise<void> {
    await (await this.#open()).alarm()
  }
}
