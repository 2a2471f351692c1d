/**
 * Node flags for the service; NODE_OPTIONS does not accept the first. The image's CMD repeats them.
 * - The garbage collector stays on the main thread: its helper threads compete with the encoders, which costs 3 % of a one-minute job on
 * two cores.
 * - It collects new objects after each MiB: by default it waits for tens of MB, which are mostly stale pieces of a download.
 */
export const NODE_FLAGS = ['--single-threaded-gc', '--max-semi-space-size=1']
