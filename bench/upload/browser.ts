import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { chromium, type Page } from 'playwright-core'

import { definedEnvironment, findChromium, FLAGS } from '../../test/support/browser.ts'

export interface LaunchedBrowser {
  page: Page
  /** Kills all processes of the browser at once, so that it cannot save anything. */
  kill: () => Promise<void>
}

/** Launches Chromium behind a proxy, with a persistent profile. */
export async function launch(profile: string, proxy: string): Promise<LaunchedBrowser> {
  const { path, env } = await findChromium()
  // The last flag sends requests to loopback addresses through the proxy as well.
  const flags = [
    `--user-data-dir=${profile}`,
    '--remote-debugging-port=0',
    `--proxy-server=${proxy}`,
    '--proxy-bypass-list=<-loopback>',
  ]
  // A separate process group, so that all its children are killed with it.
  const child = spawn(path, [...FLAGS, ...flags], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...definedEnvironment(), ...env },
  })
  const exited = once(child, 'exit')
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      const [, url] = /DevTools listening on (ws:\S+)/.exec(line) ?? []
      if (url) resolve(url)
    })
    child.once('exit', (code) => reject(new Error(`Chromium ended (${code})`)))
  })
  const browser = await chromium.connectOverCDP(address, { isLocal: true })
  const context = browser.contexts()[0] ?? (await browser.newContext())
  return {
    page: context.pages()[0] ?? (await context.newPage()),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null || !child.pid) return
      process.kill(-child.pid, 'SIGKILL')
      await exited
    },
  }
}
