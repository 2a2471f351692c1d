import { spawn } from 'node:child_process'

/** Keeps a core busy until it is killed, or we are gone, however we go. */
export const spin = () =>
  spawn(process.execPath, ['-e', 'const us = process.ppid; while (process.ppid === us);'], { stdio: 'ignore' })
