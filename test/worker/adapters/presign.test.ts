import { AwsV4Signer } from 'aws4fetch'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { viewSigner } from '../../../src/adapters/bucket/presign.ts'
import { DAY, HOUR } from '../support/api.ts'
import { signedParts } from '../support/signature.ts'

/** Compares the signer of listeners' URLs with the library that signs all other URLs. */

const random = (below: number) => Math.floor(Math.random() * below)
const CHARACTERS = Array.from('abcXYZ019-_.~ !\'()*+,;:@&=$%#?"<>[]{}|\\^`äß€日🎷')
const text = () => Array.from({ length: 1 + random(24) }, () => CHARACTERS[random(CHARACTERS.length)]).join('')
/** The random texts have a prefix, because a segment `.` or `..` would change the path. */
const path = () => ['media', ...Array.from({ length: 1 + random(5) }, () => `-${text()}`)].join('/')

async function signedByLibrary(url: string, bindings: Env): Promise<string> {
  const unsigned = new URL(url)
  const datetime = unsigned.searchParams.get('X-Amz-Date')!
  for (const name of ['Algorithm', 'Credential', 'Date', 'SignedHeaders', 'Signature']) {
    unsigned.searchParams.delete(`X-Amz-${name}`)
  }
  const signer = new AwsV4Signer({
    url: unsigned.href,
    accessKeyId: bindings.R2_ACCESS_KEY_ID,
    secretAccessKey: bindings.R2_SECRET_ACCESS_KEY,
    service: 's3',
    region: 'auto',
    signQuery: true,
    datetime,
  })
  return (await signer.sign()).url.searchParams.get('X-Amz-Signature')!
}

describe('a signature', () => {
  it('equals the signature of aws4fetch for any path, time and key', async () => {
    for (let i = 0; i < 300; i++) {
      const bindings = {
        ...env,
        S3_ENDPOINT: ['https://account.r2.cloudflarestorage.com', 'http://localhost:8787/cdn-cgi/local/r2/s3'][i % 2]!,
        R2_ACCESS_KEY_ID: `key${random(3)}`,
        R2_SECRET_ACCESS_KEY: `${text()}${random(3)}`,
      }
      const now = Date.UTC(2026, 0, 1) + random(400 * DAY)
      const sign = await viewSigner(bindings, now, now + random(DAY))
      const query: Record<string, string> = i % 3 === 0 ? { 'response-content-disposition': text() } : {}
      const url = await sign(path(), query)
      expect(signedParts(url).disposition, url).toBe(query['response-content-disposition'] ?? null)
      expect(new URL(url).searchParams.get('X-Amz-Signature'), url).toBe(await signedByLibrary(url, bindings))
    }
  })
})

describe('a signed URL', () => {
  const start = Date.UTC(2026, 10, 22, 23, 50)
  const at = async (now: number, ends_at: number) => (await viewSigner(env, now, ends_at))('media/a')

  it('is the same for every session and rarely changes, so that browsers can cache the file', async () => {
    const urls = new Set<string>()
    for (let second = 0; second < 3600; second += 10) {
      urls.add(await at(start + second * 1000, start + second * 1000 + DAY))
      urls.add(await at(start + second * 1000, start + second * 1000 + 2 * HOUR + 123))
    }
    expect(urls.size).toBeLessThanOrEqual(5)
  })

  it('is valid for at most an hour, expires no later than its session, and is issued with at least two thirds of its lifetime left', async () => {
    for (let i = 0; i < 500; i++) {
      const now = start + random(DAY)
      const ends_at = now + 1 + random(i % 2 ? 2 * HOUR : 10_000)
      const { expires, ends } = signedParts(await at(now, ends_at))
      const hour = Math.min(ends_at, now + HOUR)
      expect(expires).toBeGreaterThanOrEqual(1)
      expect(expires).toBeLessThanOrEqual(3600)
      expect(ends).toBeLessThanOrEqual(ends_at)
      expect(ends - now).toBeGreaterThan(((hour - now) * 2) / 3 - 3000)
    }
  })
})
