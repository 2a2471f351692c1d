import { readFileSync } from 'node:fs'

/**
 * Calls `onGone` once when a process that started this process ends: the parent process, npm (which may not forward signals), or the
 * process in `PARENT_PID`.
 */
export function watchParents(onGone: () => void): void {
  const parent = process.ppid
  const watched = [Number(process.env.PARENT_PID) || 0, findNpm(parent)].filter((pid) => pid > 1)
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every(isAlive)) return
    clearInterval(timer)
    onGone()
  }, 500)
  // If the parent used child_process.fork, its channel closes immediately when it ends.
  if (process.channel) process.once('disconnect', onGone)
}

/**
 * Returns the process id of npm, or 0 if npm did not start it. `npm start` runs a shell, which runs this process, and the shell does not exit when
 * npm ends. Works only on Linux.
 */
function findNpm(shell: number): number {
  if (!process.env.npm_lifecycle_event) return 0
  try {
    const [, fields = ''] = readFileSync(`/proc/${shell}/stat`, 'utf8').split(') ')
    const npmPid = Number(fields.split(' ')[1])
    const name = readFileSync(`/proc/${npmPid}/cmdline`, 'utf8')
    return name.includes('npm') ? npmPid : 0
  } catch {
    return 0
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
