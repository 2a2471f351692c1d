import { env } from 'cloudflare:workers'

const encoder = new TextEncoder()
const hex = (bytes: ArrayBuffer) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('')

/** Encodes all characters except the unreserved ones (RFC 3986), regardless of their encoding in the URL. */
const uriEncode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

async function hmac(key: ArrayBuffer | Uint8Array, text: string): Promise<ArrayBuffer> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return crypto.subtle.sign('HMAC', imported, encoder.encode(text))
}

/**
 * Whether R2 would accept a request to a presigned URL. Computes Signature Version 4 from the URL as it is sent, following the AWS documentation and
 * without the library that signed the URL.
 */
export async function isSignedFor(
  method: string,
  href: string,
  headers: Record<string, string> = {},
): Promise<boolean> {
  const [address = '', search = ''] = href.split('?')
  const { host, pathname } = new URL(address)
  const pairs = search.split('&')
  const value = (name: string) => decodeURIComponent(pairs.find((p) => p.startsWith(`${name}=`))!.split('=')[1]!)
  const signed = value('X-Amz-SignedHeaders').split(';')
  const sent: Record<string, string> = { host, ...headers }
  const scope = value('X-Amz-Credential').split('/').slice(1)
  const request = [
    method,
    pathname,
    pairs
      .filter((pair) => !pair.startsWith('X-Amz-Signature='))
      .map((pair) => pair.split('=').map(decodeURIComponent).map(uriEncode).join('='))
      .toSorted()
      .join('&'),
    ...signed.map((name) => `${name}:${sent[name]}`),
    '',
    signed.join(';'),
    'UNSIGNED-PAYLOAD',
  ].join('\n')
  const digest = hex(await crypto.subtle.digest('SHA-256', encoder.encode(request)))
  let key: ArrayBuffer | Uint8Array = encoder.encode(`AWS4${env.R2_SECRET_ACCESS_KEY}`)
  for (const part of scope) key = await hmac(key, part)
  const text = ['AWS4-HMAC-SHA256', value('X-Amz-Date'), scope.join('/'), digest].join('\n')
  return hex(await hmac(key, text)) === value('X-Amz-Signature')
}

/** The parameters of a presigned URL, decoded as S3 decodes them: a `+` is a plus sign. */
export function signedParts(href: string) {
  const url = new URL(href.replaceAll('+', '%2B'))
  const get = (name: string) => url.searchParams.get(name)
  return {
    key: decodeURIComponent(url.pathname).split(`/${env.S3_BUCKET}/`)[1]!,
    expires: Number(get('X-Amz-Expires')),
    /** Milliseconds since 1970. */
    ends:
      Date.parse(get('X-Amz-Date')!.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5')) +
      Number(get('X-Amz-Expires')) * 1000,
    headers: get('X-Amz-SignedHeaders')?.split(';'),
    disposition: get('response-content-disposition'),
  }
}
