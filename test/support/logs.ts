/** Maps the name of each process that a test file started to a function that returns its output. */
export const logs = new Map<string, () => string>()

/** Makes failing tests of this file show the log of a process (see show_logs.ts). */
export function showLog(name: string, read: () => string): void {
  logs.set(name, read)
}
