import { env, exports } from 'cloudflare:workers'
import { expect } from 'vitest'

/** Calls the real Worker; the answer's body is parsed, and a failed expectation shows it. */
export async function call(method: string, path: string, options: { key?: string; body?: unknown; headers?: HeadersInit } = {}) {
  const response = await exports.default.fetch(
    new Request(`https://tonearm.test${path}`, {
      method,
      headers: {
        ...(options.key && { authorization: `Bearer ${options.key}` }),
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
        ...(options.headers as Record<string, string>),
      },
      ...(options.body !== undefined && {
        body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body),
      }),
    }),
  )
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look at answers that may be anything
  const body = (await response.json()) as any
  return { status: response.status, headers: response.headers, body }
}

/** Expects success and answers the body. */
export async function ok(...args: Parameters<typeof call>) {
  const { status, body } = await call(...args)
  expect(status, `${args[0]} ${args[1]} answered ${JSON.stringify(body)}`).toBe(200)
  return body
}

/** A fresh organization with its server key. */
export async function anOrganization(name = 'Test') {
  const body = await ok('POST', '/v1/organization', { key: env.ROOT_KEY, body: { name } })
  return { id: body.organization_id as string, key: body.secret as string }
}
