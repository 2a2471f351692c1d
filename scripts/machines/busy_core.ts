import { spawn } from 'node:child_process'

/** Starts a process that keeps one core busy until it is killed or this process ends, even if it crashes. */
export const startBusyLoop = () =>
  spawn(process.execPath, ['-e', 'const us = process.ppid; while (process.ppid === us);'], { stdio: 'ignore' })
