import { realpathSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { JOB_PREFIX, makeDirectory } from '../disk.ts'
import type { Binaries, Tools } from './ffmpeg.ts'
import { run } from './run.ts'

/** A restriction of a program, which `launch.pl` applies (docs/decisions/0017). */
type Layer = 'batch' | 'limits' | 'network' | 'no_new_privs' | 'files' | 'user'

export type Confined = {
  /** ffmpeg and ffprobe, started by the launcher with the layers that work on this machine. */
  tools: Tools
  /** Names of the layers that are used. */
  confined: string[]
  /**
   * Id of the user that ffmpeg runs as; null if that is the user of the service. This user must own the directories that ffmpeg writes to.
   */
  owner: number | null
}

const LAUNCHER = join(import.meta.dirname, 'launch.pl')
const NOBODY = 65534

/** Restricts ffmpeg as far as this machine allows (docs/decisions/0017). Tests the layers by running ffmpeg, and omits those that fail. */
export async function confine(binaries: Binaries, workDir: string): Promise<Confined> {
  const readable = [binaries.ffmpeg, binaries.ffprobe].map((path) => dirname(realpathSync(path)))
  const { launch, layers } = await confineProgram({ writable: workDir, readable }, (start, tried) =>
    transcodes(binaries, workDir, start, ownerUnder(tried)),
  )
  return {
    tools: {
      version: binaries.version,
      ffmpeg: [...launch, binaries.ffmpeg],
      ffprobe: [...launch, binaries.ffprobe],
    },
    confined: layers,
    owner: ownerUnder(layers),
  }
}

/**
 * Paths that a program may use in addition to those of the system's programs: a directory in which it may create files, and directories that it may read
 * and execute. With the layer `files`, all other paths, including /proc, are blocked.
 */
type Access = { writable: string | null; readable: string[] }

/**
 * Returns the layers that work on this machine, and the start of a command that applies them. `works` runs the program behind such a start, and returns
 * whether the program did its work.
 */
export async function confineProgram(
  { writable, readable }: Access,
  works: (launch: string[], layers: Layer[]) => Promise<boolean>,
): Promise<{ launch: string[]; layers: Layer[] }> {
  const executables = ['/usr', '/bin', '/lib', '/lib64', ...readable].join('\n')
  const launch = (layers: Layer[]) =>
    layers.length === 0 ? [] : ['perl', LAUNCHER, process.arch, layers.join(','), writable ?? '', executables]
  const layers = await usableLayers(launch, (tried) => works(launch(tried), tried))
  return { launch: launch(layers), layers }
}

async function usableLayers(
  launch: (layers: Layer[]) => string[],
  works: (layers: Layer[]) => Promise<boolean>,
): Promise<Layer[]> {
  if (process.platform !== 'linux') return []
  // In the order in which they are applied. A namespace needs privileges that later layers drop.
  const all: Layer[] = ['batch', 'limits', 'network', 'no_new_privs', 'files']
  if (process.getuid?.() === 0) all.push('user')
  if (await works(all)) return all
  const isUsable = await Promise.all(all.map((layer) => succeeds([...launch([layer]), 'true'])))
  const usable = all.filter((_, i) => isUsable[i])
  // If the program also fails without layers, for example because the disk is full, the layers are not the cause.
  if ((await works(usable)) || !(await works([]))) return usable
  const applied: Layer[] = []
  for (const layer of usable) if (await works([...applied, layer])) applied.push(layer)
  return applied
}

const ownerUnder = (layers: Layer[]) => (layers.includes('user') ? NOBODY : null)

// A WAV file with 100 ms of silence: mono, 8 kHz, 16 bit.
const WAV = Buffer.concat([
  Buffer.from(
    'RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x40\x06\0\0',
    'latin1',
  ),
  Buffer.alloc(1600),
])

/** Whether, with these layers, ffprobe can read a file in a job's directory and ffmpeg can write one. */
async function transcodes(
  binaries: Binaries,
  workDir: string,
  command: string[],
  owner: number | null,
): Promise<boolean> {
  const directory = join(workDir, `${JOB_PREFIX}trial`)
  try {
    await makeDirectory(directory, owner)
    await writeFile(join(directory, 'src'), WAV)
    const [read, written] = await Promise.all([
      succeeds([...command, binaries.ffprobe, '-v', 'error', `file:${join(directory, 'src')}`]),
      succeeds(
        [...command, binaries.ffmpeg, ...'-nostdin -v error -i file:src -f s16le file:out'.split(' ')],
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
