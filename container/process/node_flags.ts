/**
 * Node flags for the service. They are not set in NODE_OPTIONS, which does not accept the first flag. The image's CMD repeats them.
 * - The garbage collector runs only on the main thread. Its helper threads would compete with the encoders, which costs 3 % of a one-minute
 * job on two cores.
 * - The garbage collector runs after each MiB of new objects. By default it waits for tens of MB, which are mostly old pieces of a download.
 */
export const NODE_FLAGS = ['--single-threaded-gc', '--max-semi-space-size=1']
