import { join, resolve } from 'node:path'

import { MIN_ROOT_KEY } from '../../src/contract/facts.ts'
import { readPort } from './port.ts'
import { readSecrets } from './secrets.ts'

export const root = join(import.meta.dirname, '../..')
/**
 * The Worker's variables that belong to an account. wrangler.toml declares them as secrets, so that no deployment by wrangler changes them
 * (docs/decisions/0074).
 */
export const ADDRESSES = ['PUBLIC_BASE_URL', 'S3_ENDPOINT', 'TRANSCODER_URL']
/** Variables of the same kind that only `npm run deploy` sets: where the Durable Objects of listening are. */
export const PLACES = ['JURISDICTION', 'LOCATION_HINT']
/** Path of the file from which wrangler reads the local secrets. */
export const DEV_VARS = join(root, '.dev.vars')

/** Environment variables of `npm start`. docs/settings.md is generated from this table. */
export const SETTINGS = {
  PORT: { standard: '8787', meaning: 'port of the API and the studio' },
  TRANSCODER_PORT: { standard: '', meaning: 'port of the transcoder; without it, the one after `PORT`' },
  STATE_DIR: { standard: '.wrangler/state', meaning: 'directory of the database and the files' },
  ROOT_KEY: {
    standard: '',
    meaning:
      "the operator's key of at least 24 characters, which creates organizations; without it, the one that the first start writes to `.dev.vars`",
  },
  METRICS_KEY: { standard: '', meaning: 'the key of the metrics; without it, the one in `.dev.vars`' },
  EMPTY: {
    standard: '',
    meaning: '`1` creates no demo organization, so that `npm run restore` accepts it',
  },
  DEMO_TRACK: {
    standard: '1',
    meaning: '`0` makes no demo track when `STATE_DIR` is new',
  },
  VERBOSE: { standard: '', meaning: '`1` shows every line of wrangler and transcoder' },
} as const

/** Settings from the environment variables and `.dev.vars`. */
export interface Settings {
  port: number
  transcoderPort: number
  /** Path of the directory with the database, the files, and the state of these scripts. */
  stateDir: string
  /** Whether no demo organization is created. */
  isEmpty: boolean
  /** Whether the first start makes a demo track. */
  hasDemoTrack: boolean
  secrets: Record<string, string>
  base_url: string
}

/** Returns the directory with the data of `npm start`. */
export const readStateDirectory = () => resolve(root, process.env.STATE_DIR || SETTINGS.STATE_DIR.standard)

export function readSettings(): Settings {
  const port = readPort('PORT', SETTINGS.PORT.standard)
  const transcoderPort = readPort('TRANSCODER_PORT', String(port < 65_535 ? port + 1 : port - 1))
  if (port === transcoderPort) throw new Error(`PORT and TRANSCODER_PORT are both ${port}; they must differ`)
  const secrets = readSecrets(DEV_VARS)
  for (const name of ['ROOT_KEY', 'METRICS_KEY']) if (process.env[name]) secrets[name] = process.env[name]
  if (secrets.ROOT_KEY!.length < MIN_ROOT_KEY)
    throw new Error(`ROOT_KEY has fewer than ${MIN_ROOT_KEY} characters: set another (openssl rand -hex 32)`)
  return {
    port,
    transcoderPort,
    stateDir: readStateDirectory(),
    isEmpty: Boolean(process.env.EMPTY),
    hasDemoTrack: (process.env.DEMO_TRACK || SETTINGS.DEMO_TRACK.standard) !== '0',
    secrets,
    base_url: `http://localhost:${port}`,
  }
}

/** Returns the variables of the Worker that are different on this machine. URLs contain `localhost`, because the host is part of their signatures. */
export const localVars = ({ base_url, transcoderPort }: Settings) => ({
  PUBLIC_BASE_URL: base_url,
  S3_ENDPOINT: `${base_url}/cdn-cgi/local/r2/s3`,
  TRANSCODER_URL: `http://127.0.0.1:${transcoderPort}`,
  // workerd has no jurisdictions.
  JURISDICTION: '',
  LOCATION_HINT: '',
  WEBHOOK_LOCAL: 'true',
})
