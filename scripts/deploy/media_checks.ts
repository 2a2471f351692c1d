import { request } from './bucket_checks.ts'
import { check, expect } from './report_check.ts'

/** The checks of `npm run doctor -- --media`: whether the domain of the files opens only with a token, and whether its cache works. */

/** How often the file is requested to measure the cache, with each of two tokens. */
const REQUESTS = 3
const REPAIR = 'npm run deploy -- --media-domain NAME makes the rules (docs/media.md)'

const statusOf = async (url: string, init: RequestInit = {}) => {
  const response = await request(url, { redirect: 'manual', ...init })
  await response.body?.cancel()
  return response.status
}

/** Checks the URLs of a play view, and `later`, a URL of its first file with another token. */
export async function checkMedia([url = '', other = '']: string[], later: string): Promise<void> {
  const isZone = await check('files come from a domain', REPAIR, async () => {
    expect(new URL(url).searchParams.has('verify'), `MEDIA_DELIVERY is r2: ${new URL(url).host}`)
    return [new URL(url).host, true]
  })
  if (!isZone) return
  await check(
    'the domain refuses requests without the right token',
    `remove the domain from the bucket now, or: ${REPAIR}`,
    async () => {
      const [file = '', query = ''] = url.split('?')
      const attempts = {
        'without a token': file,
        'with the token of another file': `${other.split('?')[0]}?${query}`,
        'with a later expiry': url.replace(/verify=(\d+)/, (_, time) => `verify=${Number(time) + 60}`),
        'for another spelling of the path': `${file.replace('/media/', '/med%69a/')}?${query}`,
      }
      for (const [attempt, address] of Object.entries(attempts))
        for (const method of ['GET', 'HEAD']) {
          const status = await statusOf(address, { method })
          expect(status === 403, `${status} ${attempt} (${method}), not 403`)
        }
      return [`${2 * Object.keys(attempts).length} requests got 403`, true]
    },
  )
  await check('the cache of the domain', `run this again after a minute; ${REPAIR}`, async () => {
    const found: string[] = []
    for (let i = 0; i < REQUESTS; i++)
      for (const address of [url, later]) {
        const response = await request(address)
        await response.arrayBuffer()
        found.push(response.headers.get('cf-cache-status') ?? 'none')
      }
    const hits = found.filter((status) => status === 'HIT').length
    const note = `${hits} of ${found.length} requests with two tokens from the cache (${found.join(', ')})`
    expect(url !== later && found.some((status, at) => at % 2 === 1 && status === 'HIT'), note)
    return [note, true]
  })
}
