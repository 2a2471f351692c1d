import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Returns the path of the checkout that `--against` names, if any. Throws if it is not an installed checkout. */
export function otherCheckout(against: string | undefined): string | undefined {
  if (against === undefined) return undefined
  const directory = resolve(against)
  if (!existsSync(join(directory, 'package.json')))
    throw new Error(`--against: ${directory} is not a checkout of Tonearm; create one with git worktree add`)
  if (!existsSync(join(directory, 'node_modules')))
    throw new Error(`--against: ${directory} has no node_modules; run npm ci there`)
  return directory
}
