import type { playOperations } from '../../contract/play.ts'

/**
 * Other responses are copied with their schemas. Those that are built before the schemas are loaded are not, so tests (`CHECK_ANSWERS`) check that they
 * equal such a copy.
 */
export async function checkAnswer(
  env: Env,
  answer: { api_request_id: string },
  operation: keyof typeof playOperations,
): Promise<void> {
  if (env.CHECK_ANSWERS !== 'true') return
  const { encoder } = await import('../encode.ts')
  const { playOperations } = await import('../../contract/play.ts')
  const copy = encoder(playOperations[operation].response)(answer, answer.api_request_id, true)
  if (JSON.stringify(copy) !== JSON.stringify(answer)) throw new Error('an answer is not what its schema says')
}
