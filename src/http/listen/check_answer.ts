import { playOperations } from '../../contract/play.ts'
import { encoder } from '../encode.ts'

/**
 * Other responses are copied with their schemas. Those that are built before the schemas are loaded are not, so tests (`CHECK_ANSWERS`) load this file and
 * check that they equal such a copy.
 */
export function checkAnswer(answer: { api_request_id: string }, operation: keyof typeof playOperations): void {
  const copy = encoder(playOperations[operation].response)(answer, answer.api_request_id, true)
  if (JSON.stringify(copy) !== JSON.stringify(answer)) throw new Error('an answer is not what its schema says')
}
