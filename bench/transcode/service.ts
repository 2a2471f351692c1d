import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'

import { bundleTranscoder, TRANSCODER } from '../../container/bundle.ts'
import { JobEvent, type JobResult, type TranscodeJob } from '../../src/contract/job.ts'
import { type Run, withContestant } from './contestant.ts'

/** Runs one job on a newly started service, after a health check. Measures from the request to the line with the result. */
export async function runService(job: TranscodeJob, signal: AbortSignal): Promise<Run> {
  await bundleTranscoder()
  return withContestant(TRANSCODER, signal, async ({ line, measure }) => {
    // Without Landlock, warnings come first. If the service does not start, its output ends.
    let started = await line()
    while (started.event !== 'started') started = await line()
    const url = `http://127.0.0.1:${Number(started.port)}`
    // Container hosts also send a health check. This request also loads the HTTP client of the bench before the measurement starts.
    await (await fetch(`${url}/health`, { signal })).text()
    return measure(async () => {
      const result = await follow(`${url}/jobs/${job.job_id}`, job, signal)
      if (result.failed.length > 0) throw new Error(`variants failed: ${JSON.stringify(result.failed)}`)
    })
  })
}

async function follow(url: string, job: TranscodeJob, signal: AbortSignal): Promise<JobResult> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(job),
    signal,
  })
  if (!response.ok || !response.body) throw new Error(`the service answered ${response.status}`)
  // The DOM's type of a stream, which the compiler uses for responses, differs slightly from Node's.
  const input = Readable.fromWeb(response.body as NodeStream)
  for await (const text of createInterface({ input })) {
    const event = JobEvent.parse(JSON.parse(text))
    if (event.type === 'result') return event.result
    if (event.type === 'error') throw new Error(`the job failed: ${event.error.message}`)
    if (event.type === 'fallback') throw new Error(`the strict pass failed: ${event.reason}`)
  }
  throw new Error('the service ended the stream without a result')
}
