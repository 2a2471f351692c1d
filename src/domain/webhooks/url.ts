import { ownHosts, publicRefusal } from '../../contract/public_url.ts'

/** Checks URLs that webhooks are sent to (docs/webhooks.md#urls). */

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
  const base_urls = [base_url, env.PUBLIC_BASE_URL]
  if (env.WEBHOOK_LOCAL === 'true') {
    if (isLocal(url))
      return base_urls.map(parse).some((service) => service && isLocal(service) && service.port === url.port)
        ? 'must not be this service'
        : null
    if (LOOPBACK.includes(url.hostname)) return 'must begin with http://localhost or http://127.0.0.1 on this machine'
    if (url.protocol !== 'https:') return 'must begin with https://, http://localhost or http://127.0.0.1'
  }
  return publicRefusal(url, ownHosts(base_urls, env.S3_ENDPOINT))
}
