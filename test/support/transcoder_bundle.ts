import { bundleTranscoder } from '../../container/bundle.ts'

/** Vitest's global setup of the projects that start transcoders: bundles the transcoder once for all of them. */
export default bundleTranscoder
