/**
 * Checks URLs that webhooks are sent to: only public hosts in canonical form are allowed (docs/webhooks.md#urls). `new URL` has already normalized
 * every notation of an IPv4 address, such as `0x7f.1`, and converted lookalike letters to the name that is resolved.
 */

/** Names that no public name server resolves (RFC 6761, 6762, 7686, 8375, 9476), and common names in home networks. */
const PRIVATE =
  /(^|\.)(local|localhost|internal|intranet|private|corp|home|lan|localdomain|domain|host|onion|alt|test|invalid|example|arpa)$/

/** A host name with at least two labels, the last of which starts with a letter. */
const NAME = /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/

const isLocal = ({ protocol, hostname }: URL) =>
  protocol === 'http:' && (hostname === 'localhost' || hostname === '127.0.0.1')

/** Names and addresses that are probably meant as the local machine, but that are not accepted in this notation. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

type Settings = Pick<Env, 'WEBHOOK_LOCAL' | 'PUBLIC_BASE_URL' | 'S3_ENDPOINT'>

const parse = (text: string) => (URL.canParse(text) ? new URL(text) : null)

/** Returns why a URL is refused; null if it is allowed. `base_url` is the base URL of the request, for a service without a configured one. */
export function refusalOf(text: string, env: Settings, base_url = ''): string | null {
  const url = parse(text)
  if (!url) return 'must be a URL'
  if (url.username || url.password) return 'must not hold a name or a password'
  if (text.includes('#')) return 'must not have a fragment'
  const ours = [base_url, env.PUBLIC_BASE_URL].map(parse)
  if (env.WEBHOOK_LOCAL === 'true') {
    if (isLocal(url))
      return ours.some((service) => service && isLocal(service) && service.port === url.port)
        ? 'must not be this service'
        : null
    if (LOOPBACK.includes(url.hostname)) return 'must begin with http://localhost or http://127.0.0.1 on this machine'
    if (url.protocol !== 'https:') return 'must begin with https://, http://localhost or http://127.0.0.1'
  }
  if (url.protocol !== 'https:') return 'must begin with https://'
  if (!['', '443', '8443'].includes(url.port)) return 'must have no port but 443 or 8443'
  // A trailing dot marks a fully qualified name.
  const host = url.hostname.replace(/\.$/, '')
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return 'must have the name of a host in place of its address'
  if (host.length > 253 || !NAME.test(host) || PRIVATE.test(host)) return 'must have the name of a public host'
  const bucket = parse(env.S3_ENDPOINT)?.hostname
  const isOurs = ours.some((service) => service?.hostname === host) || host === bucket || host.endsWith(`.${bucket}`)
  return isOurs ? 'must not be a host of this service' : null
}
