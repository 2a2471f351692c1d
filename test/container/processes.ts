import { readdir, readFile } from 'node:fs/promises'

import { expect, vi } from 'vitest'

import type { Service } from './service.ts'

/** The ids of a process's direct children whose command line matches `pattern`. */
export async function childrenOf(pid: number, pattern: RegExp): Promise<number[]> {
  const found: number[] = []
  for (const child of await childIds(pid)) {
    const command = await readFile(`/proc/${child}/cmdline`, 'latin1').catch(() => '')
    if (pattern.test(command)) found.push(child)
  }
  return found
}

/** Process ids of all descendants of a process. */
export async function descendants(pid: number): Promise<number[]> {
  const children = await childIds(pid)
  return [...children, ...(await Promise.all(children.map(descendants))).flat()]
}

/** Reads the children from the kernel's list, because scanning every process takes seconds on busy cores. */
async function childIds(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => ''))
  return (await Promise.all(lists)).join(' ').split(' ').filter(Boolean).map(Number)
}

/** Whether a process is running. A zombie, which has ended but is not yet reaped, is not. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
  return !stat.includes(') Z')
}

/** Timeout for waiting on another process. */
export const WAIT = { timeout: 60_000, interval: 20 }

/** The command of an ffmpeg that encodes. The launcher, which confines and then becomes it, does not match, so the confinement is in effect. */
export const ENCODER = /^(?!.*launch\.pl).*filter_complex/

/** Waits until a service is encoding, then returns the process id of its ffmpeg. */
export async function encoderOf(running: Service): Promise<number> {
  const found = await vi.waitFor(async () => {
    const children = await childrenOf(running.pid, ENCODER)
    expect(children).toHaveLength(1)
    return children
  }, WAIT)
  return found[0]!
}
