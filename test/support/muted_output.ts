/** Lines that workerd and the plugin of Vitest write about expected errors, which the Worker has caught or which occur after it has ended. */
const EXPECTED = new RegExp(
  [
    // The other end closes or refuses a connection, or does not exist any more.
    '^exception = .*: disconnected: ',
    '^uncaught exception; .*Network connection lost\\.?$',
    // A test file ends while its Worker loads a module, or deletes the contents of Durable Objects between two tests.
    '^uncaught exception; .*Closing rpc while "resolve" was pending$',
    '^exception = .*Application called deleteAllDurableObjects',
    // The object of listening starts again because a test prevents it from writing.
    '^uncaught exception; .*listening_write_failed$',
    // Some packages have broken source maps.
    '^Sourcemap for ".*node_modules',
  ].join('|'),
)
/** Matches a line that follows an expected line and belongs to it. */
const BELOW = /^(stack: | {4}at )/

/** Removes expected lines from the output of a run, because the plugin prints everything that workerd writes and has no setting to change that. */
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
