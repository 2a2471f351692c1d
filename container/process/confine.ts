import { existsSync, realpathSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { JOB_PREFIX, makeDirectory } from '../disk.ts'
import type { Binaries, Tools } from './ffmpeg.ts'
import { run } from './run.ts'

/** One more thing that ffmpeg may not do, as a program that takes it away and then becomes ffmpeg. */
type Layer = { name: string; command: string[] }

export type Confined = {
  /** The programs behind the layers that work here. */
  tools: Tools
  /** Names of those layers. */
  confined: string[]
  /** The user that ffmpeg runs as, where that is not the service's: it must own the directories it writes to. */
  owner: number | null
}

const NOBODY = 65534
const GIB = 1024 ** 3

/**
 * Takes from ffmpeg what this machine allows to take (docs/decisions/0017): each layer is tried here once with a real ffmpeg, and
 * those that do not work are left out.
 */
export async function confine(found: Binaries, workDir: string): Promise<Confined> {
  const all = layers(found, workDir)
  const allowed = await Promise.all(all.map((layer) => runs([...layer.command, 'true'])))
  const possible = all.filter((_, i) => allowed[i])
  let kept = possible
  const works = (tried: Layer[]) => transcodes(found, workDir, tried)
  // What does not even work without them, on a full disk for example, is not their fault.
  if (!(await works(possible)) && (await works([]))) {
    kept = []
    for (const layer of possible) if (await works([...kept, layer])) kept.push(layer)
  }
  const before = commandOf(kept)
  return {
    tools: { version: found.version, ffmpeg: [...before, found.ffmpeg], ffprobe: [...before, found.ffprobe] },
    confined: kept.map((layer) => layer.name),
    owner: ownerUnder(kept),
  }
}

// In the order of execution: a namespace needs the rights that the layers after it give up. The user comes last, because a setpriv
// that changes it can still start a program that only the service's user may execute, as npm installs some.
function layers(found: Binaries, workDir: string): Layer[] {
  const root = process.getuid?.() === 0
  // The largest file that one PUT takes on R2 is 5 GiB. ffmpeg 7.1 needs 1.5 GiB of addresses, most of it for its threads.
  const limits = [`--as=${3 * GIB}`, `--fsize=${5 * GIB}`, '--nofile=256', '--core=0']
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--bounding-set=-all', '--inh-caps=-all']
  // A service that is killed takes ffmpeg along. A change of the user forgets this, so that says it again.
  const orphan = ['--pdeathsig=KILL']
  return [
    // Not a right but a habit: a thread that has something to do waits for its turn. Encoders lose their caches less often, which saves
    // a twentieth of the processor time.
    { name: 'batch', command: ['chrt', '--batch', '0'] },
    { name: 'limits', command: ['prlimit', ...limits] },
    { name: 'network', command: ['unshare', ...(root ? [] : ['--user', '--map-current-user']), '--net', '--ipc'] },
    { name: 'no_new_privs', command: ['setpriv', '--no-new-privs', ...orphan] },
    { name: 'files', command: ['setpriv', '--landlock-access', 'fs', ...rules(found, workDir)] },
    ...(root ? [{ name: 'user', command: ['setpriv', ...user, ...orphan] }] : []),
  ]
}

// Landlock: programs and libraries to read, the work directory to write. Everything else, /proc too, is out of reach.
function rules(found: Binaries, workDir: string): string[] {
  const homes = [found.ffmpeg, found.ffprobe].map((path) => dirname(realpathSync(path)))
  const programs = ['/usr', '/bin', '/lib', '/lib64', ...homes].filter((path) => existsSync(path))
  const readable = ['/etc/ld.so.cache'].filter((path) => existsSync(path))
  return [
    ...programs.map((path) => `path-beneath:execute,read-file,read-dir:${path}`),
    ...readable.map((path) => `path-beneath:read-file:${path}`),
    'path-beneath:read-file,write-file:/dev/null',
    `path-beneath:read-file,write-file,read-dir,make-reg,remove-file:${workDir}`,
  ].flatMap((rule) => ['--landlock-rule', rule])
}

function commandOf(kept: Layer[]): string[] {
  return kept.flatMap((layer) => layer.command)
}

function ownerUnder(kept: Layer[]): number | null {
  return kept.some((layer) => layer.name === 'user') ? NOBODY : null
}

// 100 ms of silence: mono, 8 kHz, 16 bit.
const WAV = Buffer.concat([
  Buffer.from(
    'RIFF\x64\x06\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x40\x06\0\0',
    'latin1',
  ),
  Buffer.alloc(1600),
])

/** Whether ffprobe can read, and ffmpeg write, a file in a job's directory. */
async function transcodes(found: Binaries, workDir: string, tried: Layer[]): Promise<boolean> {
  const before = commandOf(tried)
  const directory = join(workDir, `${JOB_PREFIX}trial`)
  try {
    await makeDirectory(directory, ownerUnder(tried))
    await writeFile(join(directory, 'src'), WAV)
    const [read, written] = await Promise.all([
      runs([...before, found.ffprobe, '-v', 'error', `file:${join(directory, 'src')}`]),
      runs([...before, found.ffmpeg, ...'-nostdin -v error -i file:src -f s16le file:out'.split(' ')], directory),
    ])
    return read && written && (await stat(join(directory, 'out'))).size === 1600
  } catch {
    return false
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function runs(command: string[], cwd?: string): Promise<boolean> {
  const options = { timeoutSeconds: 30, stdoutLimit: 65536, ...(cwd ? { cwd } : {}) }
  const exit = await run(command, [], options).catch(() => null)
  return exit?.code === 0
}
