import { describe, expect, it } from 'vitest'

import { ErrorCode } from '../../../src/contract/common.ts'
import type { OperationName } from '../../../src/contract/index.ts'
import { errorsOf } from '../../../src/contract/operation.ts'
import { randomFrom } from '../../support/random.ts'
import { call, recordingBindings } from '../support/api.ts'
import { aWorkspace } from '../support/callers.ts'
import { operationsByName, type Attempt, attemptsAt } from '../support/fuzz_attempt.ts'
import { sample } from '../support/fuzz_input.ts'
import { toJson } from '../support/fuzz_value.ts'
import { keyOf, operationNames, requestOf } from '../support/requests.ts'

/** Number of malformed requests to each operation. Every run sends the same requests. */
const ENOUGH = 200

/** The real bindings without a limit of requests per minute. */
const bindings: Env = { ...recordingBindings, API_RATE_LIMIT: { limit: async () => ({ success: true }) } }

/** Describes the fault of a response; null when the response is correct. */
function faultOf(
  name: OperationName,
  { valid, refusals = [400] }: Attempt,
  { status, body }: Awaited<ReturnType<typeof call>>,
): string | null {
  if (status >= 500) return 'crashed'
  if (status < 300) return valid === false ? 'accepted input that its schema rejects' : null
  if (body.ok || !ErrorCode.safeParse(body.code).success || !body.message) return 'has no error envelope'
  if (!errorsOf(operationsByName[name]!).includes(body.code))
    return `is ${body.code}, which the operation table does not list`
  if (valid !== false) return null
  // The value -400 means invalid JSON, for which the response lists no fields.
  if (refusals[0] === -400) return status === 400 ? null : 'refused with another status'
  if (!refusals.includes(status)) return 'refused with another status'
  if (status !== 400) return null
  const named = Array.isArray(body.errors) && body.errors.length > 0
  return named && body.errors.every((e) => typeof e.path === 'string') ? null : 'names no field'
}

describe('malformed input', () => {
  it('is rejected by every operation, with a code and a list of the invalid fields', async () => {
    const workspace = await aWorkspace()
    const faults: unknown[] = []
    const sent: Record<string, number> = {}
    let refused = 0
    for (const [index, name] of operationNames.entries()) {
      const { body = {} } = requestOf(name, workspace)
      const random = randomFrom(index + 1)
      const attempts = sample(random, attemptsAt(name, workspace, random), ENOUGH)
      sent[name] = attempts.length
      for (let at = 0; at < attempts.length; at += 16) {
        await Promise.all(
          attempts.slice(at, at + 16).map(async (attempt) => {
            const key = keyOf(name, workspace)
            const text = attempt.body ?? (operationsByName[name]!.body && !attempt.headers ? toJson(body) : undefined)
            const answer = await call(operationsByName[name]!.method.toUpperCase(), attempt.path, {
              key,
              bindings,
              ...((text ?? operationsByName[name]!.body) && { body: text ?? toJson(body) }),
              ...(attempt.headers && { headers: attempt.headers }),
            })
            const fault = faultOf(name, attempt, answer)
            if (fault)
              faults.push({
                name,
                fault,
                ...attempt,
                body: attempt.body?.slice(0, 200),
                status: answer.status,
                answer: JSON.stringify(answer.body).slice(0, 300),
              })
            if (answer.status >= 400) refused++
          }),
        )
      }
    }
    expect(faults.slice(0, 20)).toEqual([])
    // These operations accept no input at all, or any short text, so few malformed requests are possible.
    const few = ['getOwnApiKey', 'emptyTrash', 'listLimits', 'getProgress', 'deleteProgress', 'getSystem']
    expect(Object.keys(sent).filter((name) => sent[name]! < ENOUGH)).toEqual(few)
    expect(refused / Object.values(sent).reduce((a, b) => a + b)).toBeGreaterThan(0.8)
  }, 400_000)
})
