/** Lines that workerd and vitest's plugin write about what tests do on purpose: the Worker has caught it, or it is over. */
const EXPECTED = new RegExp(
  [
    // A peer hangs up, refuses, or is gone.
    '^exception = .*: disconnected: ',
    '^uncaught exception; .*Network connection lost\\.?$',
    // A file ends while its Worker loads a module, or empties Durable Objects between two tests.
    '^uncaught exception; .*Closing rpc while "resolve" was pending$',
    '^exception = .*Application called deleteAllDurableObjects',
    // Packages whose source maps lead nowhere.
    '^Sourcemap for ".*node_modules',
  ].join('|'),
)
/** What stands below such a line, and belongs to it. */
const BELOW = /^(stack: | {4}at )/

/** Keeps the output of a run to its results: the plugin hands on all that workerd writes, and has no setting for it. */
export function muteExpected(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
    stream.write = (text: unknown, ...rest: unknown[]) => {
      if (typeof text !== 'string') return write(text, ...rest)
      let isMuted = false
      const kept = text.split('\n').filter((line) => {
        isMuted = EXPECTED.test(line) || (isMuted && BELOW.test(line))
        return !isMuted
      })
      return write(kept.join('\n'), ...rest)
    }
  }
}
