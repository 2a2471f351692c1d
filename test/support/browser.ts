import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { type Browser, chromium } from 'playwright-core'

/**
 * Chromium for tests: `CHROMIUM_PATH`, or else the version that the npm package @sparticuz/chromium contains. The
 * version is fixed because it determines how decoders behave.
 */

export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--autoplay-policy=no-user-gesture-required',
]
// The configuration of the package searches for fonts only in /tmp, and Chromium exits if it finds no font.
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>HOME/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>HOME/fonts-cache</cachedir>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family><family>Open Sans</family></prefer></alias>
</fontconfig>
`
const root = join(import.meta.dirname, '../..')

interface Found {
  path: string
  env?: Record<string, string>
}

let running: Promise<Browser> | undefined

/** Returns a headless Chromium that all test files of a process share. Each test file closes its pages with `closePages`. */
export function joinBrowser(): Promise<Browser> {
  return (running ??= launchBrowser())
}

export async function closePages(): Promise<void> {
  const browser = await running
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? [])
}

async function launchBrowser(): Promise<Browser> {
  const found = await findChromium()
  const browser = await chromium.launch({
    executablePath: found.path,
    args: FLAGS,
    env: { ...definedEnvironment(), ...found.env },
  })
  // Playwright's default of 30 seconds is too short on busy cores.
  return browser.on('context', (context) => context.setDefaultTimeout(300_000))
}

export async function findChromium(): Promise<Found> {
  const configured = process.env.CHROMIUM_PATH
  if (configured) return { path: configured }
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('@sparticuz/chromium is for Linux on x64. Set CHROMIUM_PATH to a Chromium of this machine.')
  return unpackFromNpm()
}

/**
 * Unpacks the npm package once into `.cache/`. This runs in a separate process, because the package reads environment
 * variables of AWS Lambda to choose the directory and to add shared libraries that a minimal Debian lacks.
 */
export async function unpackFromNpm(): Promise<Found> {
  const manifest = await readFile(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  const cache = join(root, '.cache')
  const home = join(cache, `chromium-${version}`)
  if (!isExecutable(join(home, 'chromium'))) {
    await mkdir(cache, { recursive: true })
    const staging = await mkdtemp(join(cache, 'unpack-'))
    const script = `import chromium from '@sparticuz/chromium'; await chromium.executablePath()`
    const env = { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' }
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: root, env })
    // The rename fails if another test file has unpacked the package first. That copy is the same, so it is used.
    await rename(staging, home).catch(() => rm(staging, { recursive: true, force: true }))
  }
  const fontConfig = join(home, 'tonearm-fonts.conf')
  await writeFile(fontConfig, FONTS.replaceAll('HOME', home))
  return {
    path: join(home, 'chromium'),
    env: { LD_LIBRARY_PATH: join(home, 'al2023/lib'), FONTCONFIG_FILE: fontConfig },
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
