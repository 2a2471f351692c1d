import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'

/** What a machine may refuse: each is tried once, in milliseconds. `null` where it works, else why it does not and how to allow it. */

const works = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0

/** A program in a mount namespace of its own, which root may have, and every other user in a user namespace. */
export const ownMounts = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount']

const [unshare = '', ...flags] = ownMounts
export const noMounts = works(unshare, ...flags, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir())
  ? null
  : 'a disk of its own takes CAP_SYS_ADMIN (docker run --privileged) or user namespaces (sysctl user.max_user_namespaces)'

/** In the image it is the image's own. */
export const noLimits =
  process.env.SERVICE_COMMAND || (works('prlimit', '--core=0', 'true') && works('setpriv', '--no-new-privs', 'true'))
    ? null
    : 'the layers of confine.ts take prlimit and setpriv (apt-get install util-linux)'
