import { copyService } from './backup/copy.ts'
import { openService, readOptions, runCommand } from './backup/service.ts'
import { openStore } from './backup/store.ts'
import { reportExport } from './import/report.ts'

/** `npm run export`: copies the rows and objects of one organization of a running service (docs/move.md, docs/decisions/0128). */

const USAGE = `ROOT_KEY=… npm run export -- --organization ID --to DIRECTORY|s3://BUCKET/FOLDER [--url https://audio.example.com]      docs/move.md`

const { organization, to, url } = readOptions(
  { organization: { type: 'string' }, to: { type: 'string' }, url: { type: 'string' } },
  USAGE,
)
if (!organization || !to) {
  console.error(USAGE)
  process.exit(2)
}
await runCommand(async () => {
  const [service, store] = [openService(url, organization), openStore(to)]
  const manifest = await copyService(service, store)
  await reportExport(service, store, manifest)
})
