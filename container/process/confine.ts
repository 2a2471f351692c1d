import { existsSync, realpathSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { JOB_PREFIX, makeDirectory } from '../disk.ts'
import type { Binaries, Tools } from './ffmpeg.ts'
import { run } from './run.ts'

/** One restriction of ffmpeg: the command drops a privilege and then executes ffmpeg. */
type Layer = { name: string; command: string[] }

export type Confined = {
  /** ffmpeg and ffprobe, wrapped in the layers that work on this machine. */
  tools: Tools
  /** Names of the layers that are used. */
  confined: string[]
  /**
   * Id of the user that ffmpeg runs as; null if that is the user of the service. This user must own the directories that ffmpeg writes to.
   */
  owner: number | null
}

const NOBODY = 65534
const GIB = 1024 ** 3

/** Restricts ffmpeg as far as this machine allows (docs/decisions/0017). Tests each layer by running ffmpeg, and omits those that fail. */
export async function confine(binaries: Binaries, workDir: string): Promise<Confined> {
  const everyLayer = allLayers(binaries, workDir)
  const isUsable = await Promise.all(everyLayer.map((layer) => succeeds([...layer.command, 'true'])))
  const usable = everyLayer.filter((_, i) => isUsable[i])
  let applied = usable
  const works = (layers: Layer[]) => transcodes(binaries, workDir, layers)
  // If ffmpeg also fails without layers, for example because the disk is full, the layers are not the cause.
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

// Returns all layers in execution order. A namespace needs privileges that later layers drop. The layer that changes the user is the last:
// setpriv can still start a program that only the user of the service may execute, such as some programs that npm installs.
function allLayers(binaries: Binaries, workDir: string): Layer[] {
  const root = process.getuid?.() === 0
  // The limit for files is 5 GiB, because that is R2's maximum per PUT. ffmpeg 7.1 needs 1.5 GiB of address space, mostly for its threads.
  const limits = [`--as=${3 * GIB}`, `--fsize=${5 * GIB}`, '--nofile=256', '--core=0']
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all']
  // The kernel kills ffmpeg when the service ends. A change to another user clears this setting, so the `user` layer repeats it.
  const dieWithParent = ['--pdeathsig=KILL']
  return [
    // This layer is not a restriction but a scheduling policy: a thread that becomes ready does not preempt another. Encoders benefit from
    // the CPU cache for longer, which saves a twentieth of the CPU time.
    { name: 'batch', command: ['chrt', '--batch', '0'] },
    { name: 'limits', command: ['prlimit', ...limits] },
    { name: 'network', command: ['unshare', ...(root ? [] : ['--user', '--map-current-user']), '--net', '--ipc'] },
    { name: 'no_new_privs', command: ['setpriv', '--no-new-privs', ...dieWithParent] },
    { name: 'files', command: ['setpriv', '--landlock-access', 'fs', ...landlockRules(binaries, workDir)] },
    ...(root ? [{ name: 'user', command: ['setpriv', ...user, ...dieWithParent] }] : []),
  ]
}

// Returns the rules for Landlock. Programs and libraries are readable, and the work directory is writable. All other paths, including
// /proc, are blocked.
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

// A WAV file with 100 ms of silence: mono, 8 kHz, 16 bit.
const WAV = Buffer.concat([
  Buffer.from(
    'RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x40\x06\0\0',
    'latin1',
  ),
  Buffer.alloc(1600),
])

/** Whether, with these layers, ffprobe can read a file in a job's directory and ffmpeg can write one. */
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
