import type { Settings } from '../shared/settings.ts'
import { bold, dim, print } from '../shared/terminal.ts'
import type { Demo } from './demo.ts'
import { demoAddress } from './demo_track.ts'

/** Prints the URLs and keys that a user needs first. `stops` is what Ctrl-C stops. */
export async function printReady(
  { base_url, stateDir }: Settings,
  demo: Demo | undefined,
  stops = 'everything',
): Promise<void> {
  if (!demo)
    return print(`
  ${bold('Tonearm is ready')} for npm run restore: there is no organization.

  API           ${base_url}/v1
  Data          ${stateDir}

  Ctrl-C stops ${stops}.
`)
  const listen = await demoAddress(base_url, demo)
  print(`
  ${bold('Tonearm is ready.')}
${
  listen
    ? `
  Listen        ${bold(listen)}`
    : ''
}
  Studio        ${bold(`${base_url}/#key=${demo.secret}`)}
  Docs          ${base_url}/docs
  API           ${base_url}/v1
  Organization  ${demo.organization_id}
  Server key    ${demo.secret}
  Data          ${stateDir}

  ${dim(`curl -H 'Authorization: Bearer ${demo.secret}' ${base_url}/v1/collection`)}

  Ctrl-C stops ${stops}.
`)
}
