/**
 * Checks URLs that webhooks are sent to: only public hosts in canonical form are allowed (docs/webhooks.md#urls). `new URL` has already normalized
 * every notation of an IPv4 address, such as `0x7f.1`, and converted lookalike letters to the name that is resolved. No name is resolved here, so a
 * public name with a private address is not detected.
 */

/**
 * Names that no public name server resolves (RFC 6761, 6762, 7686, 8375, 9476), and common names in home networks, container networks and clusters.
 * `.box` is a public top-level domain, so only the name of a common router is refused.
 */
const PRIVATE =
  /(^|\.)(local|localhost|internal|intranet|intra|private|priv|prv|corp|home|lan|localdomain|localnet|domain|workgroup|host|gateway|router|dhcp|fritz\.box|loc|svc|cluster|consul|docker|lxd|onion|alt|test|invalid|example|arpa)$/

/**
 * Public services whose names resolve to this machine, or to an address in the name (`10-0-0-1.nip.io`). The address may also be hexadecimal or IPv6,
 * so all names of these services are refused.
 */
const WILDCARD_DNS =
  /(^|\.)((nip|sslip|xip)\.io|traefik\.me|local-ip\.(co|sh|medicmobile\.org)|plex\.direct|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|localho\.st)$/

const OCTET = String.raw`[.-](25[0-5]|2[0-4]\d|1?\d?\d)`
/** A private IPv4 address in a name, as services such as nip.io read it: with dots or hyphens, anywhere between two of these characters. */
const PRIVATE_ADDRESS = new RegExp(
  String.raw`(^|[.-])((0|10|127)(${OCTET}){3}|(169[.-]254|192[.-]168|172[.-](1[6-9]|2\d|3[01])|100[.-](6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(${OCTET}){2})[.-]`,
)

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
  const isPublic = NAME.test(host) && ![PRIVATE, WILDCARD_DNS, PRIVATE_ADDRESS].some((pattern) => pattern.test(host))
  if (host.length > 253 || !isPublic) return 'must have the name of a public host'
  const bucket = parse(env.S3_ENDPOINT)?.hostname
  const isOurs = ours.some((service) => service?.hostname === host) || host === bucket || host.endsWith(`.${bucket}`)
  return isOurs ? 'must not be a host of this service' : null
}
