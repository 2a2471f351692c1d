import { restoreObjects, restoreRows, verifyFiles } from './backup/insert.ts'
import { type DatabaseSource, type Manifest, readManifest, sourcesOf } from './backup/manifest.ts'
import { Fault, openService, readOptions, runCommand, type Service } from './backup/service.ts'
import { openStore, type Store } from './backup/store.ts'

/** `npm run restore`: restores a backup into an empty service (docs/backup.md, docs/decisions/0081). */

const USAGE = `ROOT_KEY=… npm run restore -- --from DIRECTORY|s3://BUCKET/FOLDER [OPTIONS]      docs/backup.md
  --url https://audio.example.com   the service; without it, a running npm start
  --other-secret                    restores although SIGNING_SECRET is another one
  --resume-webhooks                 starts the webhooks of a restored service; needs no --from`

async function finish(service: Service, { backup_id }: Manifest, { tables }: DatabaseSource): Promise<number> {
  const counts = Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))
  let queued = 0
  for (let after: string | null = ''; after !== null;) {
    const page: Awaited<ReturnType<typeof service.call<'finish'>>> = await service.call('finish', {
      backup_id,
      after,
      counts,
    })
    queued += page.queued
    after = page.after
  }
  return queued
}

/** Returns the command that starts the webhooks of a restored service. */
function resumeCommand({ isLocal, base_url }: Service): string {
  const command = 'npm run restore -- --resume-webhooks'
  if (!isLocal) return `ROOT_KEY=… ${command} --url ${base_url}`
  const { PORT } = process.env
  return PORT ? `PORT=${PORT} ${command}` : command
}

async function restore(service: Service, store: Store, acceptsOtherSecret: boolean): Promise<void> {
  const startedAt = Date.now()
  const manifest = await readManifest(store)
  if (!manifest)
    throw new Fault(
      `${store.name} has no manifest.json, so it has no finished backup. Run npm run backup -- --to ${store.name} again; it continues.`,
    )
  if (manifest.organization_id)
    throw new Fault(`${store.name} has an export of one organization. Run npm run import -- export ${store.name}`)
  const sources = sourcesOf(manifest)
  const { backup_id, schema_version, secret_fingerprint } = manifest
  const target = await service.call('describe', {})
  if (target.secret_fingerprint !== secret_fingerprint && !acceptsOtherSecret)
    throw new Fault(`${service.base_url} has another SIGNING_SECRET than the service of the backup. Set the old one (npx wrangler secret put SIGNING_SECRET). If it
is lost, --other-secret restores without it; docs/operate.md#new-keys says what stops working.`)
  await verifyFiles(store, sources)
  await service.call('start', { backup_id, schema_version })
  console.log(target.restore ? 'continues the restore' : `restores the backup of ${manifest.cut.at}`)
  if (!target.restore?.is_complete) {
    await restoreObjects(service, store, manifest, sources.bucket)
    await restoreRows(service, store, manifest, sources.database, target.restore?.counts ?? {})
  }
  const queued = await finish(service, manifest, sources.database)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  console.log(`
${service.base_url} has the state of ${manifest.cut.at} after ${seconds} s. Transcodes queued again: ${queued}
Webhooks are paused. Check the service, then start them: ${resumeCommand(service)}`)
}

const options = readOptions(
  {
    from: { type: 'string' },
    url: { type: 'string' },
    'other-secret': { type: 'boolean' },
    'resume-webhooks': { type: 'boolean' },
  },
  USAGE,
)
if (!options.from && !options['resume-webhooks']) {
  console.error(USAGE)
  process.exit(2)
}
await runCommand(async () => {
  const service = openService(options.url)
  if (options.from) return restore(service, openStore(options.from), options['other-secret'] === true)
  const { resumed } = await service.call('resume', {})
  console.log(`${resumed} webhook endpoints are active again; what was pending is sent now.`)
})
