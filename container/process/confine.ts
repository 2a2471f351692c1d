import { realpathSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { JOB_PREFIX, makeDirectory } from '../disk.ts'
import type { Binaries, Tools } from './ffmpeg.ts'
import { run } from './run.ts'

/** A restriction of ffmpeg, which `launch.pl` applies (docs/decisions/0017). */
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
  const wrapper = launcher(binaries, workDir)
  const confined = await usableLayers(binaries, workDir, wrapper)
  const command = wrapper(confined)
  return {
    tools: {
      version: binaries.version,
      ffmpeg: [...command, binaries.ffmpeg],
      ffprobe: [...command, binaries.ffprobe],
    },
    confined,
    owner: ownerUnder(confined),
  }
}

type Wrapper = (layers: Layer[]) => string[]

// Returns a function that returns the start of a command: the launcher with some layers. Programs and libraries are readable, and the work directory is
// writable. With the layer `files`, all other paths, including /proc, are blocked.
function launcher(binaries: Binaries, workDir: string): Wrapper {
  const binaryDirs = [binaries.ffmpeg, binaries.ffprobe].map((path) => dirname(realpathSync(path)))
  const executables = ['/usr', '/bin', '/lib', '/lib64', ...binaryDirs].join('\n')
  return (layers) =>
    layers.length === 0 ? [] : ['perl', LAUNCHER, process.arch, layers.join(','), workDir, executables]
}

async function usableLayers(binaries: Binaries, workDir: string, wrapper: Wrapper): Promise<Layer[]> {
  if (process.platform !== 'linux') return []
  // In the order in which they are applied. A namespace needs privileges that later layers drop.
  const all: Layer[] = ['batch', 'limits', 'network', 'no_new_privs', 'files']
  if (process.getuid?.() === 0) all.push('user')
  const works = (layers: Layer[]) => transcodes(binaries, workDir, layers, wrapper)
  if (await works(all)) return all
  const isUsable = await Promise.all(all.map((layer) => succeeds([...wrapper([layer]), 'true'])))
  const usable = all.filter((_, i) => isUsable[i])
  // If ffmpeg also fails without layers, for example because the disk is full, the layers are not the cause.
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
async function transcodes(binaries: Binaries, workDir: string, layers: Layer[], wrapper: Wrapper): Promise<boolean> {
  const command = wrapper(layers)
  const directory = join(workDir, `${JOB_PREFIX}trial`)
  try {
    await makeDirectory(directory, ownerUnder(layers))
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
