import { join, resolve } from 'node:path'

import { readPort } from './port.ts'
import { readSecrets } from './secrets.ts'

export const root = join(import.meta.dirname, '..')

/** What one run needs to know, from the environment and `.dev.vars`. */
export interface Settings {
  port: number
  transcoderPort: number
  /** Where the database, the files and our own notes lie. */
  stateDir: string
  secrets: Record<string, string>
  base_url: string
}

export function readSettings(): Settings {
  const port = readPort('PORT', 8787)
  const transcoderPort = readPort('TRANSCODER_PORT', 8788)
  if (port === transcoderPort) throw new Error(`PORT and TRANSCODER_PORT are both ${port}; they must differ`)
  const secrets = readSecrets(join(root, '.dev.vars'))
  if (process.env.ROOT_KEY) secrets.ROOT_KEY = process.env.ROOT_KEY
  const stateDir = resolve(root, process.env.STATE_DIR || '.wrangler/state')
  return { port, transcoderPort, stateDir, secrets, base_url: `http://localhost:${port}` }
}
