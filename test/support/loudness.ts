import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createPcmMeter } from '../../container/audio/measure/levels.ts'
import { loudness } from '../../container/audio/measure/loudness.ts'
import { fixtureTools } from './audio.ts'

const execute = promisify(execFile)

export type Level = { lufs: number; peak: number }

/**
 * Returns the integrated loudness (LUFS) and the true peak (dBTP) of a file's decoded samples. A file with one channel
 * is measured as if both speakers played it.
 */
export async function levelOf(file: Buffer): Promise<Level> {
  const cwd = await mkdtemp(join(tmpdir(), 'tonearm-level-'))
  try {
    await writeFile(join(cwd, 'file'), file)
    const filter = 'ebur128=peak=true:dualmono=true:framelog=verbose'
    // libopus decodes Opus here, because it is the reference decoder. ffmpeg's own decoder has errors of up to 6 dB for mono at 48 kbit/s or less.
    const isWebM = file.readUInt32BE(0) === 0x1a45dfa3
    const args = [
      '-hide_banner',
      '-nostats',
      ...(isWebM ? ['-c:a', 'libopus'] : []),
      '-i',
      'file',
      '-af',
      filter,
      '-f',
      'null',
      '-',
    ]
    const { stderr } = await execute(fixtureTools.ffmpeg, args, { cwd })
    const found = loudness(stderr, createPcmMeter(1).summary())
    return { lufs: found.integrated_lufs ?? Number.NaN, peak: found.true_peak_dbtp ?? Number.NaN }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
