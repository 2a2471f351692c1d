import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createClient } from '../../src/client/client.ts'
import type { Settings } from '../shared/settings.ts'
import { print } from '../shared/terminal.ts'
import { makeDemoTrack } from './demo_track.ts'

/** An organization for experiments, with its server key. */
export interface Demo {
  organization_id: string
  api_key_id: string
  secret: string
  /** The link to the demo track. */
  share_id?: string
}

/**
 * Returns the demo organization that an earlier start created. Creates it if it does not exist or the database was deleted, and the demo track only if there
 * was no earlier start.
 */
export async function findOrCreateDemo({ base_url, stateDir, secrets, hasDemoTrack }: Settings): Promise<Demo> {
  const previous = readDemo(stateDir)
  if (previous) {
    const client = createClient({ base_url, api_key: previous.secret })
    const result = await client.get('/v1/organization/{organization_id}', {
      params: { organization_id: previous.organization_id },
    })
    if (result.ok) return previous
    if (result.status !== 401 && result.status !== 404) throw new Error(`The demo organization: ${result.message}`)
    print(`\nThe database does not know the organization of earlier starts: it is a new one. If its data should be there, stop this, put back
a copy of ${stateDir}/v3/d1, and start again. The files of earlier uploads are still in ${stateDir}/v3/r2.`)
  }
  const operator = createClient({ base_url, api_key: secrets.ROOT_KEY ?? '' })
  const created = await operator.post('/v1/organization', { body: { name: 'Demo' } })
  if (!created.ok) throw new Error(`The demo organization cannot be created: ${created.message}`)
  const { organization_id, api_key_id, secret } = created
  const demo: Demo = { organization_id, api_key_id, secret }
  writeDemo(stateDir, demo)
  if (previous || !hasDemoTrack) return demo
  try {
    demo.share_id = await makeDemoTrack(base_url, secret)
    writeDemo(stateDir, demo)
  } catch (error) {
    print(`The demo track cannot be made: ${(error as Error).message}`)
  }
  return demo
}

const pathOf = (stateDir: string) => join(stateDir, 'demo.json')

const writeDemo = (stateDir: string, demo: Demo) =>
  writeFileSync(pathOf(stateDir), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })

/** Reads the demo organization that an earlier start created from its file. */
export function readDemo(stateDir: string): Demo | undefined {
  try {
    return JSON.parse(readFileSync(pathOf(stateDir), 'utf8')) as Demo
  } catch {
    return undefined
  }
}
