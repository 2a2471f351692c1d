import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Owner {
  pid: number
  base_url: string
}

const pathIn = (directory: string) => join(directory, 'running.json')

/** Two stacks on one database would take each other's jobs: throws when one that answers has this directory. */
export async function requireFreeState(directory: string): Promise<void> {
  const owner = readOwner(pathIn(directory))
  if (owner && owner.pid !== process.pid && lives(owner.pid) && (await answers(owner.base_url))) {
    throw new Error(
      `Tonearm already runs on ${directory}: ${owner.base_url} (process ${owner.pid}).\nStop that one, or give this one data and ports of its own: PORT=9000 TRANSCODER_PORT=9001 STATE_DIR=.wrangler/other npm start`,
    )
  }
}

/** Says that this process works on a directory now. */
export function lockState(directory: string, base_url: string): void {
  writeFileSync(pathIn(directory), JSON.stringify({ pid: process.pid, base_url } satisfies Owner))
}

function readOwner(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner
  } catch {
    return undefined
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A process number can belong to something else after a crash; only a service that answers counts. */
const answers = (base_url: string) =>
  fetch(`${base_url}/health`, { signal: AbortSignal.timeout(3000) }).then(
    () => true,
    () => false,
  )
