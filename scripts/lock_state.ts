import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Owner {
  pid: number
  base_url: string
}

/** Two stacks on one database would take each other's jobs: throws when one that answers has this directory. */
export async function lockState(directory: string, base_url: string): Promise<void> {
  const path = join(directory, 'running.json')
  const owner = readOwner(path)
  if (owner && owner.pid !== process.pid && lives(owner.pid) && (await answers(owner.base_url))) {
    throw new Error(
      `Tonearm already runs on ${directory}: ${owner.base_url} (process ${owner.pid}).\nStop that one, or give this one data of its own: STATE_DIR=.wrangler/other npm start`,
    )
  }
  writeFileSync(path, JSON.stringify({ pid: process.pid, base_url } satisfies Owner))
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
