import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

import { type Program, run } from './run.ts'

/** Paths of the two binaries, and the version and the year of the build that `ffmpeg -version` prints. */
export type Binaries = { ffmpeg: string; ffprobe: string; version: string; year: number | null }

/** Years after which a build of ffmpeg lacks the fixes of several releases. A release gets fixes for about three years. */
const OLD = 3

/** Returns the advice to replace an old ffmpeg; null if it is not old. */
export const adviceOn = (year: number | null, now = new Date()): string | null =>
  year === null || now.getFullYear() - year < OLD
    ? null
    : `This ffmpeg is from ${year}, and decodes files of strangers. Install a current one (apt install ffmpeg, brew install ffmpeg), or set FFMPEG_PATH (docs/start.md#ffmpeg)`

/** The commands that run the two binaries, with the wrappers that `confine` adds. */
export type Tools = { ffmpeg: Program; ffprobe: Program; version: string; timeoutSeconds?: number | undefined }

type ConfiguredPaths = { ffmpegPath?: string | undefined; ffprobePath?: string | undefined }

/** Finds ffmpeg and ffprobe: at the configured path, on the PATH, or in the npm packages that contain them. */
export async function findTools(configured: ConfiguredPaths): Promise<Binaries> {
  const ffmpeg = configured.ffmpegPath ?? onPath('ffmpeg') ?? (await fromNpm('@ffmpeg-installer/ffmpeg'))
  if (!ffmpeg)
    throw new Error('ffmpeg not found: set FFMPEG_PATH, install ffmpeg, or npm install @ffmpeg-installer/ffmpeg')
  const sibling = executable(join(dirname(ffmpeg), 'ffprobe'))
  const ffprobe =
    configured.ffprobePath ?? sibling ?? onPath('ffprobe') ?? (await fromNpm('@ffprobe-installer/ffprobe'))
  if (!ffprobe) throw new Error('ffprobe not found: set FFPROBE_PATH or npm install @ffprobe-installer/ffprobe')
  const [{ version, year }] = await Promise.all([versionOf(ffmpeg, 'FFMPEG_PATH'), versionOf(ffprobe, 'FFPROBE_PATH')])
  return { ffmpeg, ffprobe, version, year }
}

/** The version is often a commit, but the copyright names the year in which the source was last changed. */
async function versionOf(binary: string, variable: string): Promise<Pick<Binaries, 'version' | 'year'>> {
  const exit = await run(binary, ['-version'], { timeoutSeconds: 30, stdoutLimit: 65536 }).catch(() => null)
  const text = exit?.code === 0 ? exit.stdout.toString() : ''
  const version = /version (\S+)/.exec(text)?.[1]
  if (!version) throw new Error(`${binary} does not run: set ${variable} to a working binary, or unset it`)
  const year = /Copyright \(c\) \d{4}-(\d{4})/.exec(text)?.[1]
  return { version, year: year ? Number(year) : null }
}

function onPath(name: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  return directories.map((directory) => executable(join(directory, name))).find(Boolean)
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return path
  } catch {
    return undefined
  }
}

// These packages are dev dependencies and are not in the image. Because the import uses a variable, the compiler does not resolve their
// types.
async function fromNpm(name: string): Promise<string | undefined> {
  try {
    const installer = (await import(name)) as { default: { path: string } }
    return installer.default.path
  } catch {
    return undefined
  }
}
