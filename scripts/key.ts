import { readStateDirectory } from './shared/settings.ts'
import { readDemo } from './start/demo.ts'

/** `npm run -s key`: prints the server key of the organization that `npm start` created, and nothing else, for use in a shell. */

const directory = readStateDirectory()
const demo = readDemo(directory)
if (demo) console.log(demo.secret)
else {
  console.error(
    `There is no key in ${directory}. Run npm start first; if it has another STATE_DIR, set the same one here.`,
  )
  process.exitCode = 1
}
