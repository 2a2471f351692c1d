import { execFile } from 'node:child_process'
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

import puppeteer, { type Browser, type BrowserContextOptions, type Page } from 'puppeteer-core'

import { definedEnvironment, isExecutable } from './browser.ts'

/** Firefox for tests, controlled through WebDriver BiDi (docs/decisions/0068). */

const NAMES = ['firefox-esr', 'firefox']
/** The oldest ESR that the tests support. 140 has no null sound device, no proxy per tab, and no locators on pages with a CSP. */
const OLDEST = 153
/** The reason of skipped tests. */
export const NO_FIREFOX = `there is no Firefox ${OLDEST} or later: install firefox-esr, or name one with FIREFOX_PATH`
/** A timeout that only detects a hang: on busy cores, starting takes a minute. */
const TIMEOUT = 300_000

const DIRECT_IF_LOCAL =
  'function FindProxyForURL(_, host) { return /^(localhost|127.0.0.1)$/.test(host) ? "DIRECT" : "PROXY 127.0.0.1:9" }'
const PREFERENCES = {
  // Enables a sound device of Firefox that plays in real time without sound. Otherwise media would fail on a machine that has no sound device.
  'media.cubeb.force_mock_context': true,
  // Maximum kilobytes of media that Firefox caches on disk and in memory. By default it caches the whole file of a test
  // and so requests no second URL.
  'media.cache_size': 1024,
  'media.memory_cache_max_size': 0,
  // Allows only connections to loopback: all others use a proxy on which nothing listens. A list of exceptions would
  // also apply to tabs with a separate proxy.
  'network.proxy.type': 2,
  'network.proxy.autoconfig_url': `data:,${encodeURIComponent(DIRECT_IF_LOCAL)}`,
  'network.proxy.allow_hijacking_localhost': true,
  'intl.accept_languages': 'en-US, en',
}

/**
 * Returns the path of Firefox: `FIREFOX_PATH`, or else that of a recent `firefox-esr` or `firefox` on the PATH, or null if tests can use no Firefox.
 */
export async function findFirefox(): Promise<string | null> {
  const configured = process.env.FIREFOX_PATH
  if (configured) return configured
  const directories = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const paths = NAMES.flatMap((name) => directories.map((directory) => join(directory, name))).filter(isExecutable)
  for (const path of paths) if (!(await isSnap(path)) && (await versionOf(path)) >= OLDEST) return path
  return null
}

/** Whether Firefox is a snap. A snap has a separate /tmp and cannot access the profile and the files of a test. */
async function isSnap(path: string): Promise<boolean> {
  const start = (await readFile(path, 'latin1')).slice(0, 4096)
  return (await realpath(path)).endsWith('/snap') || (start.startsWith('#!') && start.includes('/snap/'))
}

/** Returns the major version. */
async function versionOf(path: string): Promise<number> {
  const { stdout } = await promisify(execFile)(path, ['--version'])
  return Number(/(\d+)\./.exec(stdout)?.[1] ?? 0)
}

export interface Firefox {
  browser: Browser
  close: () => Promise<void>
}

/** Starts a headless Firefox with a new profile. Autoplay is blocked, as it is by default. */
export async function startFirefox(executablePath: string): Promise<Firefox> {
  // Firefox writes to its home directory, and if it runs as root, it refuses that of another user.
  const home = await mkdtemp(join(tmpdir(), 'tonearm-firefox-'))
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    env: { ...definedEnvironment(), HOME: home },
    extraPrefsFirefox: PREFERENCES,
    timeout: TIMEOUT,
    protocolTimeout: TIMEOUT,
  })
  return {
    browser,
    async close() {
      await browser.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

export interface Tab {
  page: Page
  /** Errors that the page threw or wrote to the console. */
  problems: string[]
  close: () => Promise<void>
}

/** Opens a tab with separate storage. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.createBrowserContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  return { page, problems, close: () => context.close() }
}
