import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'

/** Probes what this machine permits; each takes milliseconds. `null` if it works, else the reason and how to allow it. */

const works = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0

/** Runs a program in a private mount namespace: root directly, other users in a user namespace. */
export const ownMounts = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount']

const [unshare = '', ...flags] = ownMounts
export const noMounts = works(unshare, ...flags, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir())
  ? null
  : 'a disk of its own takes CAP_SYS_ADMIN (docker run --privileged) or user namespaces (sysctl user.max_user_namespaces)'

/** The image has its own tools. */
export const noLimits =
  process.env.SERVICE_COMMAND || (works('prlimit', '--core=0', 'true') && works('setpriv', '--no-new-privs', 'true'))
    ? null
    : 'the layers of confine.ts take prlimit and setpriv (apt-get install util-linux)'
