import { check, expect } from './report_check.ts'

/** The checks of signed URLs that the doctor runs. Requests are sent as a browser would send them from a page at `origin`. */

export const request = (url: string, init: RequestInit = {}) =>
  fetch(url, { ...init, signal: AbortSignal.timeout(60_000) })

/** Sends a CORS preflight request, and then uploads a WAV file. Returns false if the bucket rejects the upload. */
export async function checkUpload(url: string, file: Uint8Array<ArrayBuffer>, origin: string): Promise<boolean> {
  const rules = 'run npm run deploy, which sets the rules of the bucket; they take effect within 30 s'
  await check('CORS of the bucket', rules, async () => {
    const headers = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' }
    const response = await request(url, { method: 'OPTIONS', headers })
    const allowed = response.headers.get('access-control-allow-origin')
    expect(response.ok && (allowed === '*' || allowed === origin), `${response.status}, allows the origin ${allowed}`)
    expect(/PUT|\*/.test(response.headers.get('access-control-allow-methods') ?? ''), 'does not allow PUT')
    return ['', true]
  })
  const advice =
    'R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY or S3_ENDPOINT is wrong: run npm run deploy with the right ones'
  const sent = await check('upload to the signed URL', advice, async () => {
    const response = await request(url, { method: 'PUT', body: file, headers: { 'content-type': 'audio/wav' } })
    const text = await response.text()
    expect(response.ok, `${response.status} ${text.slice(0, 300)}`)
    return [`${file.length} bytes`, true]
  })
  return sent !== null
}

/** Requests a byte range of the audio, first with the correct signature and then with a wrong one. */
export async function checkPlayback(url: string, origin: string): Promise<void> {
  await check('a part of the audio (Range)', 'run npm run deploy, which sets the rules of the bucket', async () => {
    const response = await request(url, { headers: { range: 'bytes=0-99', origin } })
    const { byteLength } = await response.arrayBuffer()
    expect(response.status === 206 && byteLength === 100, `${response.status}, ${byteLength} bytes; not 206, 100 bytes`)
    expect(response.headers.has('access-control-allow-origin'), 'no CORS header: pages cannot read it')
    return [response.headers.get('content-range') ?? '', true]
  })
  await check(
    'a changed signature is refused',
    'S3_ENDPOINT leads to something that checks no signatures',
    async () => {
      const { status } = await request(
        url.replace(/(X-Amz-Signature=|verify=\d+-)(.)/, (_, name, c) => name + (c === '0' ? '1' : '0')),
      )
      expect(status === 403, `${status}, not 403`)
      return ['403', true]
    },
  )
}
