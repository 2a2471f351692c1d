/** What must not outlive a bench: processes, servers, directories. The last one that was begun ends first. */

const endings: (() => unknown)[] = []

export const atEnd = (end: () => unknown) => void endings.push(end)

let ending: Promise<void> | undefined
const endAll = () => (ending ??= endEach())

async function endEach(): Promise<void> {
  for (let end = endings.pop(); end; end = endings.pop()) await end()
}

/** Runs something and ends all that it began, also when it fails or somebody presses Ctrl-C. */
export async function withEnding(run: () => Promise<void>): Promise<void> {
  const interrupted = () => void endAll().finally(() => process.exit(130))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // npm passes a Ctrl-C on that has arrived already.
  for (const signal of signals) process.on(signal, interrupted)
  try {
    await run()
  } finally {
    await endAll()
    for (const signal of signals) process.off(signal, interrupted)
  }
}
