import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Whether the machine has Python 3.11 or later, which the package needs. */
export const hasPython = await promisify(execFile)('python3', [
  '-c',
  'import sys; sys.exit(sys.version_info < (3, 11))',
]).then(
  () => true,
  () => false,
)
