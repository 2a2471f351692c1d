import { spawn } from 'node:child_process'

/** Keeps a core busy until it is killed or this process ends, even by a crash. */
export const startBusyLoop = () =>
  spawn(process.execPath, ['-e', 'const us = process.ppid; while (process.ppid === us);'], { stdio: 'ignore' })
