/** What the processes that a test file started have printed, by their names. */
export const logs = new Map<string, () => string>()

/** Has the tests of this file that fail show the log of a process (see show_logs.ts). */
export function showLog(name: string, read: () => string): void {
  logs.set(name, read)
}
