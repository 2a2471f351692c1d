import { accessSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { type Browser, chromium, type Page } from 'playwright-core'

import { startMeasuring } from '../../test/container/measuring.ts'
import { ffmpeg, probeAudio } from '../../test/support/audio.ts'
import { definedEnvironment, FLAGS, unpackFromNpm } from '../../test/support/browser.ts'
import { decodeInPage, openListeningPage } from '../../test/support/listening.ts'
import { levelOf } from '../../test/support/loudness.ts'
import { lagOf } from '../../test/support/signal.ts'
import { median } from '../statistics.ts'
import { onEnd, withCleanup } from '../worker/cleanup.ts'
import { burst, BURSTS, type LayoutSource, SECONDS, SOURCES } from './sources.ts'

const HELP = `npm run bench -- layouts [options]

Makes the default variants of sources in every channel layout with this machine's ffmpeg (FFMPEG_PATH). Prints loudness and true peak of
each, and how the pinned Chromium and Debian's decode it: added frames, and the delay of bursts in frames. Fails if the loudness of a
source's variants differs by more than 0.5 LU, a peak exceeds full scale, or a frame is off.

  --only 5.1                    sources whose names contain this
  --chromium /usr/bin/chromium  the second browser, if installed`

const options = {
  only: { type: 'string', default: '' },
  chromium: { type: 'string', default: '/usr/bin/chromium' },
  help: { type: 'boolean', default: false },
} as const

const VARIANTS = ['aac-160', 'mp3-128', 'opus-96', 'preview', 'lossless']
const MAX_SPREAD = 0.5
/** A mono signal is this many LU louder from two speakers than from one. */
const TWO_SPEAKERS = 3.01
const ORIGIN = 'http://localhost'

/** Measures the levels and lengths of the variants of every channel layout. */
export const layouts = {
  about: 'loudness, true peak, length and position of every variant of every channel layout',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    await withCleanup(() => measureAll(values.only, values.chromium))
  },
}

type Deviation = { added: number; late: number }
type VariantResult = { source: string; variant: string; lufs: number | null; peak: number; deviations: Deviation[] }

async function measureAll(only: string, secondPath: string): Promise<void> {
  const measuring = await startMeasuring()
  onEnd(() => measuring.stop())
  const browsers = [
    await launch(await unpackFromNpm()),
    ...(exists(secondPath) ? [await launch({ path: secondPath })] : []),
  ]
  const names = browsers.map((browser) => `Chromium ${browser.version()}`)
  console.log(`decoded by ${names.join(', ')}; added and late in frames\n`)
  console.log(formatLine(['source', 'variant', 'LUFS', 'dBTP', ...names.flatMap(() => ['added', 'late'])]))
  const violations: string[] = []
  for (const source of SOURCES.filter(({ name }) => name.includes(only))) {
    const { result, file } = await measuring.make(await source.make(), VARIANTS)
    for (const { code } of result.warnings) violations.push(`${source.name}: warning ${code}`)
    const rows: VariantResult[] = []
    for (const variant of VARIANTS) rows.push(await measureVariant(source, variant, file, browsers))
    for (const row of rows) console.log(formatLine(cells(row)))
    violations.push(
      ...findViolations(
        source.name,
        rows,
        result.info.loudness!.integrated_lufs! + (source.channels === 1 ? TWO_SPEAKERS : 0),
      ),
    )
  }
  console.log(
    violations.length === 0
      ? '\nAll bounds hold.'
      : `\n${violations.length} bounds are violated:\n${violations.join('\n')}`,
  )
  if (violations.length > 0) process.exitCode = 1
}

async function measureVariant(
  source: LayoutSource,
  variant: string,
  file: (index: string) => Buffer,
  browsers: Browser[],
): Promise<VariantResult> {
  const bytes = file(variant)
  const { lufs, peak } = await levelOf(bytes)
  const { rate } = await probeAudio(bytes)
  const deviations: Deviation[] = []
  for (const browser of browsers) deviations.push(await measureDeviation(browser, bytes, rate))
  // A lossless variant keeps more than two channels, and the player mixes them down.
  const keepsChannels = variant === 'lossless' && source.channels > 2
  return {
    source: source.name,
    variant,
    lufs: keepsChannels ? null : await loudnessWithoutFades(variant, file, lufs),
    peak,
    deviations,
  }
}

/** Estimates how loud a preview would be without its fades, by comparing its middle with the same part of the MP3 variant. */
async function loudnessWithoutFades(variant: string, file: (index: string) => Buffer, lufs: number): Promise<number> {
  if (variant !== 'preview') return lufs
  const part = async (index: string) =>
    (await levelOf(await ffmpeg(['-i', 'in', '-ss', '0.5', '-t', '1.5', '-f', 'wav'], { in: file(index) }))).lufs
  return (await levelOf(file('mp3-128'))).lufs + (await part('preview')) - (await part('mp3-128'))
}

async function measureDeviation(browser: Browser, bytes: Buffer, rate: number): Promise<Deviation> {
  const page: Page = await browser.newPage()
  try {
    await openListeningPage(page, ORIGIN)
    await page.route('**/file', (route) => route.fulfill({ body: bytes }))
    const { left } = await decodeInPage(page, { url: `${ORIGIN}/file`, rate })
    // The lag is measured in the middle of each burst, where the pitch is high.
    const late = BURSTS.map((second) => lagOf(left, burst, rate, second + 0.03, Math.ceil(rate / 40)))
    const added = left.length - Math.round(SECONDS * rate)
    return { added, late: median(late) }
  } finally {
    await page.close()
  }
}

function findViolations(source: string, rows: VariantResult[], measured: number): string[] {
  const levels = rows.flatMap(({ lufs }) => lufs ?? [])
  const spread = Math.max(...levels, measured) - Math.min(...levels, measured)
  const off = rows.filter(({ deviations }) => deviations.some(({ added, late }) => added !== 0 || late !== 0))
  return [
    ...(spread <= MAX_SPREAD + 0.001
      ? []
      : [`${source}: ${spread.toFixed(1)} LU between ${levels.join(', ')} and ${measured}`]),
    ...rows
      .filter(({ lufs, peak }) => lufs !== null && !(peak <= 0))
      .map(({ variant, peak }) => `${source}, ${variant}: ${peak} dBTP`),
    ...off.map(
      ({ variant, deviations }) =>
        `${source}, ${variant}: ${deviations.map((deviation) => `${deviation.added} added, ${deviation.late} late`).join('; ')}`,
    ),
  ]
}

function cells({ source, variant, lufs, peak, deviations }: VariantResult): string[] {
  const deviationCells = deviations.flatMap(({ added, late }) => [String(added), String(late)])
  return [source, variant, lufs?.toFixed(1) ?? '', peak.toFixed(1), ...deviationCells]
}

const WIDTHS = [28, 10, 7, 7]
const formatLine = (texts: string[]) =>
  texts.map((text, i) => (i < 2 ? text.padEnd(WIDTHS[i]!) : text.padStart(WIDTHS[i] ?? 8))).join('')

async function launch({ path, env }: { path: string; env?: Record<string, string> }): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: path, args: FLAGS, env: { ...definedEnvironment(), ...env } })
  onEnd(() => browser.close())
  return browser
}

function exists(path: string): boolean {
  try {
    accessSync(path)
    return true
  } catch {
    return false
  }
}
