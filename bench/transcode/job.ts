import { randomUUID } from 'node:crypto'

import type { JobVariant, TranscodeJob } from '../../src/contract/job.ts'
import { CATALOGUE, type CatalogueEntry } from '../../src/contract/variant.ts'
import type { Storage } from './storage.ts'

/** The job that the Worker would send for the source in a storage: every variant of the default catalogue. */
export function newJob(storage: Storage): TranscodeJob {
  const job_id = randomUUID()
  const entries = CATALOGUE.filter((entry) => entry.type !== 'original')
  return {
    version: 1,
    job_id,
    pass: 'strict',
    source: { url: storage.url('source'), size: storage.size },
    max_duration: 12 * 3600,
    variants: entries.map((entry) => variantOf(entry, storage.url(`${job_id}/${entry.index}`))),
    cover: null,
    early: null,
  }
}

function variantOf(entry: CatalogueEntry, url: string): JobVariant {
  const { index, content_type, bitrate, codec = 'aac', start = 0, length = 30 } = entry
  const output = { index, url, content_type }
  if (entry.type === 'waveform' || entry.type === 'analysis') return { ...output, kind: entry.type }
  if (entry.type === 'preview') return { ...output, kind: 'preview', codec, bitrate, start, length }
  return { ...output, kind: 'audio', codec, bitrate }
}
