/** Reads the output of the processes that a test file started, by name. */
export const logs = new Map<string, () => string>()

/** Makes failing tests of this file show the log of a process (see show_logs.ts). */
export function showLog(name: string, read: () => string): void {
  logs.set(name, read)
}
