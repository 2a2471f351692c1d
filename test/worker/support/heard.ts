import type { HeardReport } from '../../../src/contract/heard.ts'

/** Returns the id of a new visit. */
export const aVisit = () => crypto.randomUUID().replaceAll('-', '').slice(0, 16)

/** Returns the first report of a new visit: four seconds of a track were heard. */
export const heardReport = (track: string, report: Partial<HeardReport> = {}): HeardReport => ({
  visit: aVisit(),
  sequence: 1,
  age: 5,
  first: 0,
  listens: [{ track, ranges: [[0, 4]] }],
  ...report,
})
