import { startStack } from '../support/stack.ts'
import { environmentOf, playAccount } from './deploy_setup.ts'

/**
 * `node test/e2e/simulated_account.ts`: starts an empty simulated Cloudflare account, whose deployed service is an empty stack on this machine, until
 * Ctrl-C. Prints the environment with which `npm run deploy` and wrangler use it (docs/development/tests.md#the-simulated-account).
 */

const stack = await startStack({ isEmpty: true, settings: { VERBOSE: '', CHECK_ANSWERS: 'false' } })
const cloudflare = await playAccount(stack)
cloudflare.account.hasOrganization = true
const environment = { ...environmentOf(cloudflare), CLOUDFLARE_ACCOUNT_ID: cloudflare.account.id }
for (const [name, value] of Object.entries(environment)) console.log(`export ${name}='${value}'`)
console.log(`# The service before the first deployment: ${stack.base_url}, with the data in ${stack.state_dir}`)

process.once('SIGINT', () => void Promise.all([stack.dispose(), cloudflare.close()]))
