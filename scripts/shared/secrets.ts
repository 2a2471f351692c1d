import { randomBytes } from 'node:crypto'
import { appendFileSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

import { keepPrivate } from './private_mode.ts'

const random = () => randomBytes(32).toString('hex')

/**
 * The secrets that wrangler.toml declares, with functions that generate their values. The key pair for R2 must be equal to that of the
 * local S3 endpoint in wrangler.toml.
 */
const GENERATORS: Record<string, () => string> = {
  ROOT_KEY: random,
  SIGNING_SECRET: random,
  METRICS_KEY: random,
  TRANSCODER_SECRET: random,
  R2_ACCESS_KEY_ID: () => 'tonearm-local',
  R2_SECRET_ACCESS_KEY: () => 'tonearm-local-secret',
}

/**
 * Reads the secrets from `.dev.vars`. If secrets or `others` are missing, first creates the file or appends values for them. Never changes a line that
 * exists.
 */
export function readSecrets(path: string, others: Record<string, string> = {}): Record<string, string> {
  const lines = missingLines(parse(path), others)
  if (lines) (parse(path) ? appendFileSync : create)(path, lines)
  keepPrivate(path)
  return { ...parse(path) }
}

function missingLines(present: Record<string, string> | undefined, others: Record<string, string>): string {
  const secrets = Object.entries(GENERATORS).filter(([name]) => !present?.[name])
  const missing = [
    ...secrets.map(([name, generate]) => [name, generate()]),
    ...Object.entries(others).filter(([name]) => present?.[name] === undefined),
  ]
  return missing.map(([name, value]) => `\n${name}=${value}`).join('')
}

/** Creates the file atomically. If two processes do this at the same time, the second process uses the file of the first. */
function create(path: string, lines: string): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `# Made by \`npm start\` or \`wrangler dev\`. Only for this machine, not in git.${lines}\n`, {
    mode: 0o600,
  })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

function parse(path: string): Record<string, string> | undefined {
  try {
    return parseEnv(readFileSync(path, 'utf8')) as Record<string, string>
  } catch {
    return undefined
  }
}
