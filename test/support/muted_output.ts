/** Lines that workerd and vitest's plugin write about intended failures: the Worker caught the error, or has already ended. */
const EXPECTED = new RegExp(
  [
    // A peer hangs up, refuses, or is gone.
    '^exception = .*: disconnected: ',
    '^uncaught exception; .*Network connection lost\\.?$',
    // A file ends while its Worker loads a module, or empties Durable Objects between two tests.
    '^uncaught exception; .*Closing rpc while "resolve" was pending$',
    '^exception = .*Application called deleteAllDurableObjects',
    // Packages with broken source maps.
    '^Sourcemap for ".*node_modules',
  ].join('|'),
)
/** A line that follows such a line and belongs to it. */
const BELOW = /^(stack: | {4}at )/

/** Removes expected lines from the output of a run. The plugin passes on everything that workerd writes, and has no setting for it. */
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
