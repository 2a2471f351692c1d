/** Removes processes, servers and directories at the end of a bench, in the reverse order of their creation. */

const cleanups: (() => unknown)[] = []

export const onEnd = (end: () => unknown) => void cleanups.push(end)

let ending: Promise<void> | undefined
const endAll = () => (ending ??= endEach())

async function endEach(): Promise<void> {
  for (let end = cleanups.pop(); end; end = cleanups.pop()) await end()
}

/** Runs a function and then all cleanups, even if it fails or is interrupted by Ctrl-C. */
export async function withCleanup(run: () => Promise<void>): Promise<void> {
  const interrupted = () => void endAll().finally(() => process.exit(130))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // These listeners stay during the cleanup, because npm forwards a Ctrl-C that the process has already received.
  for (const signal of signals) process.on(signal, interrupted)
  try {
    await run()
  } finally {
    await endAll()
    for (const signal of signals) process.off(signal, interrupted)
  }
}
