import { runCommand } from './backup/service.ts'
import { USAGE } from './import/usage.ts'

/** `npm run import -- KIND …`: imports into a running service (docs/import.md, docs/move.md). Each kind is a file that exports `run`, which gets the other arguments. */
const KINDS: Record<string, () => Promise<{ run: (args: string[]) => Promise<void> }>> = {
  rss: () => import('./import/rss.ts'),
  s3: () => import('./import/s3.ts'),
  list: () => import('./import/list.ts'),
  export: () => import('./import/export.ts'),
}

const [kind = '', ...args] = process.argv.slice(2)
const load = Object.hasOwn(KINDS, kind) && KINDS[kind]
if (load) await runCommand(async () => (await load()).run(args))
else {
  console.error(USAGE)
  process.exitCode = 2
}
