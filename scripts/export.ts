import { copyService } from './backup/copy.ts'
import { Fault, openService, readOptions, runCommand } from './backup/service.ts'
import { openStore } from './backup/store.ts'
import { exportPlayable } from './export/playable.ts'
import { reportExport } from './import/report.ts'
import { readSettings } from './shared/settings.ts'

/** `npm run export`: copies one organization of a running service, to import it elsewhere or as a folder that plays by itself (docs/move.md, docs/decisions/0128). */

const USAGE = `ROOT_KEY=… npm run export -- --organization ID --to DIRECTORY|s3://BUCKET/FOLDER [--url https://audio.example.com]
TONEARM_KEY=… npm run export -- --playable --to DIRECTORY [--url https://audio.example.com]                              docs/move.md`

const { organization, to, url, playable } = readOptions(
  {
    organization: { type: 'string' },
    to: { type: 'string' },
    url: { type: 'string' },
    playable: { type: 'boolean' },
  },
  USAGE,
)
if (!to || Boolean(organization) === Boolean(playable)) {
  console.error(USAGE)
  process.exit(2)
}
await runCommand(async () => {
  if (organization) {
    const [service, store] = [openService(url, organization), openStore(to)]
    const manifest = await copyService(service, store)
    return reportExport(service, store, manifest)
  }
  const key = process.env.TONEARM_KEY
  if (!key) throw new Fault('Set TONEARM_KEY in the environment: a server key of the organization')
  if (to.includes('://')) throw new Fault('A playable export needs a directory. Copy it to a bucket afterwards')
  await exportPlayable(url ?? readSettings().base_url, key, to)
})
