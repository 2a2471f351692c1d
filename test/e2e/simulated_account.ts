import { startEdge } from '../support/cloudflare/edge.ts'
import { startStack } from '../support/stack.ts'
import { environmentOf, playAccount } from './deploy_setup.ts'
import { bucketOf, DOMAIN } from './media_setup.ts'

/**
 * `node test/e2e/simulated_account.ts`: starts an empty simulated Cloudflare account until Ctrl-C. Its deployed service is an empty stack on this machine, and
 * its zone answers for media.example.com. Prints the environment with which `npm run deploy` and wrangler use it
 * (docs/development/tests.md#the-simulated-account).
 */

const stack = await startStack({ isEmpty: true, settings: { VERBOSE: '', CHECK_ANSWERS: 'false' } })
const cloudflare = await playAccount(stack)
cloudflare.account.hasOrganization = true
const edge = await startEdge(cloudflare.account, { host: DOMAIN, read: bucketOf(() => stack) })
const environment = {
  ...environmentOf(cloudflare),
  CLOUDFLARE_ACCOUNT_ID: cloudflare.account.id,
  MEDIA_BASE_URL: edge.url,
}
for (const [name, value] of Object.entries(environment)) console.log(`export ${name}='${value}'`)
console.log(`# The service before the first deployment: ${stack.base_url}, with the data in ${stack.state_dir}`)

process.once('SIGINT', () => void Promise.all([stack.dispose(), edge.close(), cloudflare.close()]))
