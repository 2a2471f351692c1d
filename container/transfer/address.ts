import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'

import { JobError } from '../job_error.ts'

/** Checks the addresses to which the names of sources resolve (docs/decisions/0127). */

function blockList(type: 'ipv4' | 'ipv6', subnets: string): BlockList {
  const list = new BlockList()
  for (const subnet of subnets.trim().split(/\s+/)) {
    const [network, prefix] = subnet.split('/')
    list.addSubnet(network!, Number(prefix), type)
  }
  return list
}

/**
 * IPv4 addresses that are not public hosts (IANA IPv4 Special-Purpose Address Registry, multicast, and the address at which Azure's machines find their
 * platform).
 */
const REFUSED_V4 = blockList(
  'ipv4',
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16
  198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32`,
)
/** The public IPv6 addresses. This leaves out mapped and translated IPv4 addresses, and those that are unique or link-local. */
const GLOBAL_V6 = blockList('ipv6', '2000::/3')
/** Those of them that are not hosts or contain an IPv4 address: Teredo, ORCHID and other protocols, documentation, 6to4. */
const REFUSED_V6 = blockList('ipv6', '2001::/23 2001:db8::/32 2002::/16 3fff::/20')

/** Whether an address belongs to a public host. Addresses that are not in canonical form, or have a zone, do not. */
export function isPublicAddress(address: string): boolean {
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 4) return !REFUSED_V4.check(address, 'ipv4')
  return family === 6 && GLOBAL_V6.check(address, 'ipv6') && !REFUSED_V6.check(address, 'ipv6')
}

/** Returns all addresses of a name. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>
export const resolveName: Resolve = (host) => lookup(host, { all: true })

/**
 * Returns the `lookup` of a request: the connection goes to the addresses that were checked, so the name cannot change in between. One address that is not
 * public refuses the name.
 */
export const checkedLookup =
  (resolve: Resolve, isAllowed = isPublicAddress): LookupFunction =>
  (host, options, callback) => {
    const answer = async (): Promise<{ address: string | LookupAddress[]; family?: number }> => {
      const addresses = await resolve(host)
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isAllowed(address)))
        throw new JobError('source_refused', 'The host of source_url has an address that is not public.')
      return options.all ? { address: addresses } : first
    }
    callbackify(answer)((error, found) => (error ? callback(error, []) : callback(null, found.address, found.family)))
  }
