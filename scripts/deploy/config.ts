import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { experimental_readRawConfig as readRawConfig } from 'wrangler'

import type { AccountState } from './account.ts'
import { isBuiltHere, type Plan } from './plan.ts'

/** The sections of the configuration that the copy changes. `readPlan` requires one database and one container. */
interface Sections {
  main?: string
  d1_databases?: object[]
  containers?: object[]
  migrations?: object[]
}

/**
 * Runs a function with a temporary copy of the configuration. The copy names the database by its id: without one, wrangler looks up the
 * database that the deployed Worker is bound to, and fails if that database was deleted (docs/decisions/0074). It also contains the image
 * and a `max_instances` that fits `--var TRANSCODER_INSTANCES`; wrangler has no options for these.
 */
export async function withConfig<T>(
  plan: Plan,
  { newer }: AccountState,
  database_id: string,
  run: (config: string) => Promise<T>,
): Promise<T> {
  const path = join(dirname(plan.config), `.deploy-${process.pid}`)
  const { rawConfig } = readRawConfig({ config: plan.config })
  const { main = '', d1_databases: [database] = [], containers: [container] = [], migrations } = rawConfig as Sections
  const published = isBuiltHere(plan) ? {} : { image: plan.image, image_build_context: undefined }
  const copy = {
    ...rawConfig,
    // The script has already built it.
    build: undefined,
    d1_databases: [{ ...database, database_id }],
    containers: [{ ...container, ...published, max_instances: plan.max_instances }],
    ...(newer && { main: `${path}.ts`, migrations: [...(migrations ?? []), { tag: newer.tag }] }),
  }
  writeFileSync(`${path}.json`, JSON.stringify(copy))
  if (newer) writeFileSync(`${path}.ts`, withShells(main, newer.classes))
  try {
    return await run(`${path}.json`)
  } finally {
    rmSync(`${path}.json`, { force: true })
    rmSync(`${path}.ts`, { force: true })
  }
}

/**
 * Returns the code of a Worker that also has classes of a newer version, without code. Cloudflare deletes an alarm that fails too often, so each of their
 * alarms is set again until the newer version returns.
 */
const withShells = (main: string, classes: string[]) => `import { DurableObject } from 'cloudflare:workers'
export * from './${main}'
export { default } from './${main}'
class Shell extends DurableObject {
  alarm() {
    return this.ctx.storage.setAlarm(Date.now() + 3600_000)
  }
}
${classes.map((name) => `export class ${name} extends Shell {}`).join('\n')}
`
