import { join, resolve } from 'node:path'

import { readPort } from './port.ts'
import { readSecrets } from './secrets.ts'

export const root = join(import.meta.dirname, '../..')

/** Environment variables of `npm start`. docs/settings.md is generated from this table. */
export const SETTINGS = {
  PORT: { standard: '8787', meaning: 'port of the API and the studio' },
  TRANSCODER_PORT: { standard: '8788', meaning: 'port of the transcoder' },
  STATE_DIR: { standard: '.wrangler/state', meaning: 'directory of the database and the files' },
  ROOT_KEY: {
    standard: '',
    meaning:
      "the operator's key, which creates organizations; without it, the one that the first start writes to `.dev.vars`",
  },
  VERBOSE: { standard: '', meaning: '`1` shows every line of wrangler and transcoder' },
} as const

/** Settings from the environment variables and `.dev.vars`. */
export interface Settings {
  port: number
  transcoderPort: number
  /** Path of the directory with the database, the files, and the state of these scripts. */
  stateDir: string
  secrets: Record<string, string>
  base_url: string
}

export function readSettings(): Settings {
  const port = readPort('PORT', SETTINGS.PORT.standard)
  const transcoderPort = readPort('TRANSCODER_PORT', SETTINGS.TRANSCODER_PORT.standard)
  if (port === transcoderPort) throw new Error(`PORT and TRANSCODER_PORT are both ${port}; they must differ`)
  const secrets = readSecrets(join(root, '.dev.vars'))
  if (process.env.ROOT_KEY) secrets.ROOT_KEY = process.env.ROOT_KEY
  const stateDir = resolve(root, process.env.STATE_DIR || SETTINGS.STATE_DIR.standard)
  return { port, transcoderPort, stateDir, secrets, base_url: `http://localhost:${port}` }
}
