import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'

import { root } from '../shared/settings.ts'

/** The conditions under which the tests must pass. `npm run matrix` joins them with `+`. */
export const CONDITIONS: Record<string, string> = {
  docker: "root with Docker's default capabilities and no namespaces",
  shm: '64 MB of /dev/shm',
  ipv4: 'no IPv6, and a network without hosts',
  user: 'an ordinary user',
  home: 'HOME is not writable',
  path: 'a path with spaces and letters beyond ASCII',
  tmpdir: 'TMPDIR elsewhere',
  locale: 'Arabic: another language, other digits, right to left',
  east: 'a clock 14 hours ahead of UTC',
  west: 'a clock 9½ hours behind UTC',
  core: 'one core',
  busy: 'a background load of 4',
  'ffmpeg-4.1': "npm's ffmpeg, built in the month of 4.1, on the PATH; rows without an ffmpeg find it in node_modules",
  'ffmpeg-5.1': "ffmpeg 5.1 on the PATH, Debian 12's",
  'ffmpeg-7.1': "ffmpeg 7.1 on the PATH, Debian 13's",
  chromium: "CHROMIUM_PATH names Debian's Chromium of this release",
}

/**
 * Each row is one run of the tests. Every condition occurs once, in as few rows as possible, but no condition may hide faults that another
 * would cause.
 */
export const ROWS = [
  'docker+shm+ipv4',
  'user+home+path+tmpdir+locale+east',
  'core+west+ffmpeg-4.1',
  'busy+ffmpeg-5.1+chromium',
  'ffmpeg-7.1',
]

/** The conditions of a row, and an empty directory for its files. */
export type Workspace = { conditions: string[]; directory: string }

/** Returns the path of a row's clone. */
export const clonePath = ({ conditions, directory }: Workspace): string =>
  join(directory, conditions.includes('path') ? 'mit Größe und 音/tonearm' : 'tonearm')

/** Returns the environment variables for a row's commands: those of this process, without npm's variables, and those of the conditions. */
export function environmentOf({ conditions, directory }: Workspace): NodeJS.ProcessEnv {
  const has = (condition: string) => conditions.includes(condition)
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_registry)|INIT_CWD$|NODE$)/.test(name),
  )
  const tools = conditions.filter((condition) => condition in TOOLS).map(toolDirectory)
  const packages = join(clonePath({ conditions, directory }), 'node_modules')
  const npmTools = ['ffmpeg', 'ffprobe'].map((name) => join(packages, `@${name}-installer/linux-${process.arch}`))
  if (has('ffmpeg-4.1')) tools.push(...npmTools)
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))
  const env: NodeJS.ProcessEnv = { ...Object.fromEntries(inherited), PATH: [...tools, ...path].join(delimiter) }
  if (has('chromium')) env.CHROMIUM_PATH = join(toolDirectory('chromium'), 'chromium')
  if (has('user')) Object.assign(env, { HOME: join(directory, 'home'), npm_config_cache: join(directory, 'npm') })
  // /sys exists and is readable, but not even root can create a file in it.
  if (has('home')) env.HOME = '/sys'
  if (has('tmpdir')) env.TMPDIR = join(directory, 'elsewhere')
  if (has('locale')) Object.assign(env, { LANG: 'ar_EG.UTF-8', LC_ALL: 'ar_EG.UTF-8', LANGUAGE: 'ar' })
  if (has('east')) env.TZ = 'Pacific/Kiritimati'
  if (has('west')) env.TZ = 'Pacific/Marquesas'
  for (const name of [env.HOME, env.TMPDIR, env.npm_config_cache]) if (name) mkdirSync(name, { recursive: true })
  return env
}

const ffmpeg = ['usr/bin/ffmpeg', 'usr/bin/ffprobe']
export const TOOLS: Record<string, string[]> = {
  'ffmpeg-5.1': ['bookworm', 'ffmpeg', ...ffmpeg],
  'ffmpeg-7.1': ['trixie', 'ffmpeg', ...ffmpeg],
  chromium: ['-', 'chromium', 'usr/lib/chromium/chromium'],
}

/** Returns the directory that a condition adds to the PATH. The first call creates it from Debian packages. */
export function toolDirectory(condition: string): string {
  const directory = join(root, '.cache/tools', condition)
  const [suite = '', name = '', ...programs] = TOOLS[condition] ?? []
  if (programs.every((program) => existsSync(join(directory, basename(program))))) return directory
  const script = [join(root, 'scripts/machines/debian_tool.sh'), suite, name, directory, ...programs]
  const { status } = spawnSync('sh', script, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status === 0) return directory
  throw new Error(
    `${condition} cannot be unpacked here (scripts/machines/debian_tool.sh). Put its programs into ${directory}`,
  )
}
