import type { Settings } from '../shared/settings.ts'
import { bold, dim, print } from '../shared/terminal.ts'
import type { Demo } from './demo.ts'

/** Prints the URLs and keys that a user needs first. `stops` is what Ctrl-C stops. */
export function printReady({ base_url, stateDir }: Settings, demo: Demo | undefined, stops = 'everything'): void {
  if (!demo)
    return print(`
  ${bold('Tonearm is ready')} for npm run restore: there is no organization.

  API           ${base_url}/v1
  Data          ${stateDir}

  Ctrl-C stops ${stops}.
`)
  print(`
  ${bold('Tonearm is ready.')}

  Studio        ${bold(`${base_url}/#key=${demo.secret}`)}
  API           ${base_url}/v1
  Organization  ${demo.organization_id}
  Server key    ${demo.secret}
  Data          ${stateDir}

  ${dim(`curl -H 'Authorization: Bearer ${demo.secret}' ${base_url}/v1/collection`)}

  Ctrl-C stops ${stops}.
`)
}
