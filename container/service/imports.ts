import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { ImportJob, JobEvent } from '../../src/contract/job.ts'
import { IMPORT_PREFIX } from '../disk.ts'
import { failpoint } from '../failpoint.ts'
import { JobError } from '../job_error.ts'
import { fetchSource, type SourceLimits } from '../transfer/fetch_source.ts'
import { uploadParts } from '../transfer/upload.ts'
import type { Result } from './job.ts'

/** The share of the progress that fetching takes; uploading takes the rest. */
const FETCHED = 0.95

/** Fetches a file from another server and uploads it in parts, which the Worker joins (docs/decisions/0127). */
export async function runImport(
  { source_url, hosts, max_size, parts }: ImportJob,
  workDir: string,
  { limits, closedPorts }: { limits: SourceLimits; closedPorts: readonly number[] | null },
  { signal, emit }: { signal: AbortSignal; emit: (event: JobEvent) => void },
): Promise<Result> {
  const directory = await mkdtemp(join(workDir, IMPORT_PREFIX))
  try {
    const path = join(directory, 'source')
    const onProgress = (fraction: number) => emit({ type: 'progress', fraction: fraction * FETCHED })
    const options = { maxBytes: max_size, hosts, limits, closedPorts, signal, onProgress }
    const { size, file_name } = await fetchSource(source_url, path, options)
    if (size === 0) throw new JobError('empty_file', 'The file at source_url is empty (0 bytes).')
    failpoint('source_fetched')
    const etags = await uploadParts(path, size, parts, 'application/octet-stream', signal)
    failpoint('source_uploaded')
    return { type: 'imported', size, parts: etags, file_name }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
