/**
 * Flags that Node is started with; NODE_OPTIONS does not take the first. The image's CMD repeats them.
 * - The garbage collector stays on the main thread: its helpers take turns from the encoders, 3 % of a one-minute job on two cores.
 * - It looks at what is new after 1 MiB (of 16): pieces of a download that nobody needs any more would else be 100 MB in the end.
 */
export const NODE_FLAGS = ['--single-threaded-gc', '--max-semi-space-size=1']
