import { AwsV4Signer } from 'aws4fetch'

import { HOUR } from '../../src/contract/time.ts'
import { query } from './database.ts'
import type { Shared } from './shared_stack.ts'

/** Expires sessions, shares and URLs. The real lifetimes are too long for a test, so these helpers change the stored time. */

type Table = 'upload_sessions' | 'play_sessions' | 'shares'

/** Sets the expiry of a session or a share to now, or to some hours ago. */
export const expire = (stack: Shared, table: Table, id: string, hours = 0): Promise<void> =>
  expireAt(stack, table, id, Date.now() - hours * HOUR - 1000)

/** Sets the expiry of a session or a share, in milliseconds since 1970. */
export async function expireAt(stack: Shared, table: Table, id: string, time: number): Promise<void> {
  await query(stack, `update ${table} set expires_at = ${time} where id = '${id}'`)
}

/** Signs an upload URL again as if that had happened two hours ago, with the keys of the local storage in wrangler.toml. */
export async function signedLongAgo(upload_url: string, size: number): Promise<string> {
  const url = new URL(upload_url)
  for (const name of Array.from(url.searchParams.keys())) {
    if (/^X-Amz-/i.test(name) && name !== 'X-Amz-Expires') url.searchParams.delete(name)
  }
  const signed = await new AwsV4Signer({
    url: url.href,
    method: 'PUT',
    accessKeyId: 'tonearm-local',
    secretAccessKey: 'tonearm-local-secret',
    service: 's3',
    region: 'auto',
    signQuery: true,
    allHeaders: true,
    headers: { 'content-length': String(size) },
    datetime: new Date(Date.now() - 7200_000).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  }).sign()
  return signed.url.href
}
