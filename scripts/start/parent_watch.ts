import { readFileSync } from 'node:fs'

/**
 * Calls back once when the process that started this one ends: the shell, npm (which may not pass signals on), or the process in
 * `PARENT_PID`. A closing terminal also sends SIGHUP.
 */
export function watchParents(onGone: () => void): void {
  const parent = process.ppid
  const watched = [Number(process.env.PARENT_PID) || 0, findNpm(parent)].filter((pid) => pid > 1)
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every(isAlive)) return
    clearInterval(timer)
    onGone()
  }, 500)
  // The channel of child_process.fork closes immediately.
  if (process.channel) process.once('disconnect', onGone)
}

/**
 * Returns the pid of npm, 0 if there is none. `npm start` runs a shell that runs this process, and the shell does not notice when npm ends.
 * Works on Linux only.
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
