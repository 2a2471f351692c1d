import { copyService } from './backup/copy.ts'
import { openService, readOptions, runCommand } from './backup/service.ts'
import { openStore } from './backup/store.ts'

/** `npm run backup`: copies the rows and objects of a running service (docs/backup.md, docs/decisions/0080). */

const USAGE = `ROOT_KEY=… npm run backup -- --to DIRECTORY|s3://BUCKET/FOLDER [--url https://audio.example.com]      docs/backup.md`

const { to, url } = readOptions({ to: { type: 'string' }, url: { type: 'string' } }, USAGE)
if (!to) {
  console.error(USAGE)
  process.exit(2)
}
await runCommand(async () => {
  await copyService(openService(url), openStore(to))
})
