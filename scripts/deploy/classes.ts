import { type Account, type AccountState, callApi } from './account.ts'
import type { ClassMigration, Plan } from './plan.ts'
import { check } from './report_check.ts'

/** The classes of Durable Objects. Cloudflare refuses a rollback to a version from before a class migration, and an upload that lacks a class. */

interface Service {
  default_environment?: { script?: { migration_tag?: string } }
}

interface Namespace {
  script?: string | null
  class?: string | null
}

/** Number of namespaces of the account that are read at once. */
const PAGE = 100

/** Returns the classes that exist after all migrations. */
function classesAfter(migrations: ClassMigration[]): Set<string> {
  const classes = new Set<string>()
  for (const { new_classes = [], new_sqlite_classes = [], renamed_classes = [], deleted_classes = [] } of migrations) {
    for (const name of [...deleted_classes, ...renamed_classes.map(({ from }) => from)]) classes.delete(name)
    for (const name of [...new_classes, ...new_sqlite_classes, ...renamed_classes.map(({ to }) => to)])
      classes.add(name)
  }
  return classes
}

/** Returns the classes of the deployed Worker that have a namespace. */
async function deployedClasses(plan: Plan, { id, token }: Account): Promise<string[]> {
  const namespaces: Namespace[] = []
  for (let page = 1; namespaces.length === (page - 1) * PAGE; page++) {
    const path = `/accounts/${id}/workers/durable_objects/namespaces?per_page=${PAGE}&page=${page}`
    namespaces.push(...(await callApi<Namespace[]>(token, 'GET', path)))
  }
  return namespaces.flatMap((found) => (found.script === plan.name && found.class ? [found.class] : [])).toSorted()
}

/**
 * Compares the class migrations of the deployed Worker and of this version. Prints what a rollback cannot pass. If the deployed Worker is newer, `withConfig`
 * adds its last migration and its classes, because Cloudflare refuses the upload otherwise.
 */
export async function checkClasses(plan: Plan, account: Account, found: AccountState): Promise<void> {
  const { bindings } = found
  if (!bindings) return
  await check('classes of Durable Objects', 'see the message', async () => {
    const path = `/accounts/${account.id}/workers/services/${plan.name}`
    const tag = (await callApi<Service>(account.token, 'GET', path)).default_environment?.script?.migration_tag
    const index = plan.classMigrations.findIndex((migration) => migration.tag === tag)
    const known = classesAfter(plan.classMigrations)
    if (tag && index === -1) {
      const names = (await deployedClasses(plan, account)).filter((name) => !known.has(name))
      found.newer = { tag, classes: names }
      return [
        `the deployed Worker is newer (${tag}). Classes that stay without code: ${names.join(', ') || 'none'}. Their objects keep their data`,
        true,
      ]
    }
    if (index === plan.classMigrations.length - 1) return ['exist', true]
    const before = classesAfter(plan.classMigrations.slice(0, index + 1))
    const added = [...known].filter((name) => !before.has(name))
    found.addsClasses = true
    return [
      `${added.join(', ') || 'some'} will be added. After that, Cloudflare refuses a rollback to the deployed version: the way back is npm run deploy from its checkout (docs/operate.md#a-version-with-a-new-class)`,
      true,
    ]
  })
}
