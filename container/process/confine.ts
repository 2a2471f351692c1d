import { existsSync, realpathSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { JOB_PREFIX, makeDirectory } from '../disk.ts'
import type { Binaries, Tools } from './ffmpeg.ts'
import { run } from './run.ts'

/** One restriction of ffmpeg: a program that drops a privilege and then executes ffmpeg. */
type Layer = { name: string; command: string[] }

export type Confined = {
  /** The programs, wrapped in the layers that work here. */
  tools: Tools
  /** Names of these layers. */
  confined: string[]
  /** The user that ffmpeg runs as, if it is not the service's; this user must own the directories that ffmpeg writes to. */
  owner: number | null
}

const NOBODY = 65534
const GIB = 1024 ** 3

/** Restricts ffmpeg as far as this machine allows (docs/decisions/0017). Tests each layer with a real ffmpeg and skips those that fail. */
export async function confine(binaries: Binaries, workDir: string): Promise<Confined> {
  const everyLayer = allLayers(binaries, workDir)
  const isUsable = await Promise.all(everyLayer.map((layer) => succeeds([...layer.command, 'true'])))
  const usable = everyLayer.filter((_, i) => isUsable[i])
  let applied = usable
  const works = (layers: Layer[]) => transcodes(binaries, workDir, layers)
  // If ffmpeg also fails without layers, for example on a full disk, the layers are not the cause.
  if (!(await works(usable)) && (await works([]))) {
    applied = []
    for (const layer of usable) if (await works([...applied, layer])) applied.push(layer)
  }
  const wrapper = commandOf(applied)
  return {
    tools: {
      version: binaries.version,
      ffmpeg: [...wrapper, binaries.ffmpeg],
      ffprobe: [...wrapper, binaries.ffprobe],
    },
    confined: applied.map((layer) => layer.name),
    owner: ownerUnder(applied),
  }
}

// In execution order: a namespace needs privileges that later layers drop. The user comes last, because a setpriv that changes it can
// still start a program that only the service's user may execute, as npm installs some.
function allLayers(binaries: Binaries, workDir: string): Layer[] {
  const root = process.getuid?.() === 0
  // R2 accepts at most 5 GiB per PUT. ffmpeg 7.1 needs 1.5 GiB of address space, mostly for its threads.
  const limits = [`--as=${3 * GIB}`, `--fsize=${5 * GIB}`, '--nofile=256', '--core=0']
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all']
  // Kills ffmpeg when the service dies. A change of user clears this setting, so the `user` layer repeats it.
  const dieWithParent = ['--pdeathsig=KILL']
  return [
    // Not a restriction but a scheduling policy: a thread that becomes ready does not preempt another. Encoders keep their caches longer,
    // which saves a twentieth of the CPU time.
    { name: 'batch', command: ['chrt', '--batch', '0'] },
    { name: 'limits', command: ['prlimit', ...limits] },
    { name: 'network', command: ['unshare', ...(root ? [] : ['--user', '--map-current-user']), '--net', '--ipc'] },
    { name: 'no_new_privs', command: ['setpriv', '--no-new-privs', ...dieWithParent] },
    { name: 'files', command: ['setpriv', '--landlock-access', 'fs', ...landlockRules(binaries, workDir)] },
    ...(root ? [{ name: 'user', command: ['setpriv', ...user, ...dieWithParent] }] : []),
  ]
}

// Landlock: programs and libraries are readable, the work directory is writable. Everything else, including /proc, is blocked.
function landlockRules(binaries: Binaries, workDir: string): string[] {
  const binaryDirs = [binaries.ffmpeg, binaries.ffprobe].map((path) => dirname(realpathSync(path)))
  const programs = ['/usr', '/bin', '/lib', '/lib64', ...binaryDirs].filter((path) => existsSync(path))
  const readable = ['/etc/ld.so.cache'].filter((path) => existsSync(path))
  return [
    ...programs.map((path) => `path-beneath:execute,read-file,read-dir:${path}`),
    ...readable.map((path) => `path-beneath:read-file:${path}`),
    'path-beneath:read-file,write-file:/dev/null',
    `path-beneath:read-file,write-file,read-dir,make-reg,remove-file:${workDir}`,
  ].flatMap((rule) => ['--landlock-rule', rule])
}

function commandOf(applied: Layer[]): string[] {
  return applied.flatMap((layer) => layer.command)
}

function ownerUnder(applied: Layer[]): number | null {
  return applied.some((layer) => layer.name === 'user') ? NOBODY : null
}

// 100 ms of silence: mono, 8 kHz, 16 bit.
const WAV = Buffer.concat([
  Buffer.from(
    'RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x40\x06\0\0',
    'latin1',
  ),
  Buffer.alloc(1600),
])

/** Whether ffprobe can read a file in a job's directory, and ffmpeg can write one. */
async function transcodes(binaries: Binaries, workDir: string, layers: Layer[]): Promise<boolean> {
  const wrapper = commandOf(layers)
  const directory = join(workDir, `${JOB_PREFIX}trial`)
  try {
    await makeDirectory(directory, ownerUnder(layers))
    await writeFile(join(directory, 'src'), WAV)
    const [read, written] = await Promise.all([
      succeeds([...wrapper, binaries.ffprobe, '-v', 'error', `file:${join(directory, 'src')}`]),
      succeeds(
        [...wrapper, binaries.ffmpeg, ...'-nostdin -v error -i file:src -f s16le file:out'.split(' ')],
        directory,
      ),
    ])
    return read && written && (await stat(join(directory, 'out'))).size === 1600
  } catch {
    return false
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function succeeds(command: string[], cwd?: string): Promise<boolean> {
  const options = { timeoutSeconds: 30, stdoutLimit: 65536, ...(cwd ? { cwd } : {}) }
  const exit = await run(command, [], options).catch(() => null)
  return exit?.code === 0
}
