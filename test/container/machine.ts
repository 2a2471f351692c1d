import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'

/**
 * Probes that check which operations this machine permits. Each one takes milliseconds; its value is `null` if the operation works, or else
 * the reason and how to allow it.
 */

const works = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0

/** The command that runs a program in a private mount namespace. Users other than root also need a user namespace. */
export const ownMounts = ['unshare', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']), '--mount']

const [unshare = '', ...flags] = ownMounts
export const noMounts = works(unshare, ...flags, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir())
  ? null
  : 'a disk of its own takes CAP_SYS_ADMIN (docker run --privileged) or user namespaces (sysctl user.max_user_namespaces)'

export const noNetworks = works(unshare, ...flags.filter((flag) => flag !== '--mount'), '--net', 'true')
  ? null
  : 'a network of its own takes CAP_SYS_ADMIN (docker run --privileged) or user namespaces (sysctl user.max_user_namespaces)'

/** Landlock is a part of the kernel, so it is the same in an image. */
export const noLandlock = works(
  'perl',
  '-e',
  `exit(${process.platform === 'linux' ? 'syscall(444, 0, 0, 1)' : '-1'} < 1)`,
)
  ? null
  : 'Landlock is missing: it takes Linux 5.13 with "landlock" in /sys/kernel/security/lsm'

/** The service in the image uses the Perl of the image, so this machine needs none. */
export const noLimits =
  process.env.SERVICE_COMMAND || (process.platform === 'linux' && works('perl', '-e', '1'))
    ? null
    : 'the layers of confine.ts take Linux and Perl (apt-get install perl-base)'
