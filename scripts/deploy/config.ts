import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { experimental_readRawConfig as readRawConfig } from 'wrangler'

import { isBuiltHere, type Plan } from './plan.ts'

/** The sections of the configuration that the copy changes. `readPlan` requires one database and one container. */
interface Sections {
  d1_databases?: object[]
  containers?: object[]
}

/**
 * Runs a function with a temporary copy of the configuration. The copy names the database by its id: without one, wrangler looks up the
 * database that the deployed Worker is bound to, and fails if that database was deleted (docs/decisions/0072). It also contains the image
 * and a `max_instances` that fits `--var TRANSCODER_INSTANCES`; wrangler has no options for these.
 */
export async function withConfig<T>(plan: Plan, database_id: string, run: (config: string) => Promise<T>): Promise<T> {
  const path = join(dirname(plan.config), `.deploy-${process.pid}.json`)
  const { rawConfig } = readRawConfig({ config: plan.config })
  const { d1_databases: [database] = [], containers: [container] = [] } = rawConfig as Sections
  const published = isBuiltHere(plan) ? {} : { image: plan.image, image_build_context: undefined }
  const copy = {
    ...rawConfig,
    // The script has already built it.
    build: undefined,
    d1_databases: [{ ...database, database_id }],
    containers: [{ ...container, ...published, max_instances: plan.max_instances }],
  }
  writeFileSync(path, JSON.stringify(copy))
  try {
    return await run(path)
  } finally {
    rmSync(path, { force: true })
  }
}
