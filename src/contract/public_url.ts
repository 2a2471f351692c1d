/**
 * Checks URLs that customers give and that the service or its transcoder requests: only public hosts in canonical form are allowed. `new URL` has already
 * normalized every notation of an IPv4 address, such as `0x7f.1`, and converted lookalike letters to the name that is resolved. No name is resolved
 * here, so a public name with a private address is not detected. This file must not import zod, because the transcoder loads it.
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

const parse = (text: string) => (URL.canParse(text) ? new URL(text) : null)

/** Returns the hosts of the service, which never request each other: of its base URLs, and of its bucket, whose names may have the bucket in front. */
export const ownHosts = (base_urls: string[], endpoint: string) => ({
  own: base_urls.flatMap((text) => parse(text)?.hostname ?? []),
  bucket: parse(endpoint)?.hostname ?? null,
})
export type OwnHosts = ReturnType<typeof ownHosts>

/** Returns why a URL is refused that is not on this machine; null if it is allowed. */
export function publicRefusal(url: URL, { own, bucket }: OwnHosts): string | null {
  if (url.username || url.password) return 'must not hold a name or a password'
  if (url.protocol !== 'https:') return 'must begin with https://'
  if (!['', '443', '8443'].includes(url.port)) return 'must have no port but 443 or 8443'
  // A trailing dot marks a fully qualified name.
  const host = url.hostname.replace(/\.$/, '')
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) return 'must have the name of a host in place of its address'
  const isPublic = NAME.test(host) && ![PRIVATE, WILDCARD_DNS, PRIVATE_ADDRESS].some((pattern) => pattern.test(host))
  if (host.length > 253 || !isPublic) return 'must have the name of a public host'
  const isOurs = own.includes(host) || host === bucket || host.endsWith(`.${bucket}`)
  return isOurs ? 'must not be a host of this service' : null
}

/**
 * Returns why audio is not fetched from a URL; null if the URL is allowed. `closedPorts` is null in production; on a developer's machine (`SOURCE_LOCAL`),
 * http://127.0.0.1 is allowed too, except for these ports.
 */
export function sourceRefusal(text: string, hosts: OwnHosts, closedPorts: readonly number[] | null): string | null {
  const url = parse(text)
  if (!url) return 'must be a URL'
  if (!closedPorts || url.protocol !== 'http:') return publicRefusal(url, hosts)
  if (url.hostname !== '127.0.0.1') return 'must begin with https://, or on this machine with http://127.0.0.1'
  if (url.username || url.password) return 'must not hold a name or a password'
  return closedPorts.includes(Number(url.port || 80)) ? 'must not be a port of this service' : null
}
