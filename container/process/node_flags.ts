/**
 * Flags that Node is started with; NODE_OPTIONS does not take the first. The image's CMD repeats them.
 * - The garbage collector stays on the main thread: its helpers take turns from the encoders, 3 % of a one-minute job on two cores.
 * - It looks at what is new after each MiB: by default that waits until tens of MB are there, pieces of a download that nobody needs any more.
 */
export const NODE_FLAGS = ['--single-threaded-gc', '--max-semi-space-size=1']
