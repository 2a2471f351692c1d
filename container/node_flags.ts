/**
 * Flags that Node is started with: the garbage collector stays on the main thread, because its helpers take turns from the encoders
 * (3 % of a one-minute job on two cores). NODE_OPTIONS does not take it. The image's CMD repeats it.
 */
export const NODE_FLAGS = ['--single-threaded-gc']
