import type { ListeningCalls } from './object.ts'
import { listeningStub } from './stub.ts'

type Result<M extends keyof ListeningCalls> = Promise<Awaited<ReturnType<ListeningCalls[M]>>>

/** Returns a function that calls the object of a shard: its methods are those of `ListeningEngine`. */
export function listeningObject(env: Env, organization_id: string, shard: number) {
  const object = listeningStub(env, organization_id, shard)
  return <M extends keyof ListeningCalls>(method: M, ...parameters: Parameters<ListeningCalls[M]>) =>
    object.call(method, parameters) as Result<M>
}
