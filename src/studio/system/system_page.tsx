import { ERROR_MEANINGS } from '../../contract/errors.ts'
import { FILL_WARNING } from '../../contract/facts.ts'
import type { TransientErrorCode } from '../../contract/system.ts'
import { FILE_ERRORS, SERVICE_ERRORS, TRACK_ERRORS } from '../../contract/track_errors.ts'
import type { System } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useQuery } from '../data/query.ts'
import { ago, explain, length, plural } from '../format.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Figures, NumberCell, NumberTable } from '../ui/figures.tsx'
import { Empty, NotLoaded, NotRenewed } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'

const PERIOD = 10_000

const FAILING: Record<System['failing'][number], string> = {
  configuration: 'The Worker lacks settings, and rejects all requests except play views.',
  migrations: 'The database lacks a migration.',
  database: 'The database does not answer.',
  database_full: 'The database is nearly full: nothing can be added until something is deleted permanently.',
  restore: 'A restore has not finished: run npm run restore again. Until then, every key is rejected.',
  sweep: 'The sweep does not run: lost jobs are not retried, and expired data is not deleted.',
  transcoder: 'The transcoder does not answer.',
  media:
    'The domain of the files serves them without a token. Run npm run deploy -- --media-domain, or remove the domain from the bucket and go back to R2 (docs/media.md).',
}
const KINDS: Record<string, string> = {
  transcode: 'Tracks to process',
  cover: 'Covers to process',
  purge: 'Files to delete',
  reprocess: 'Collections to update',
}
const track_not_uploaded = ERROR_MEANINGS.track_not_uploaded
const MEANINGS: Record<string, string> = { ...FILE_ERRORS, ...SERVICE_ERRORS, ...TRACK_ERRORS, track_not_uploaded }

/** The page System with the state of the service, which is polled. */
export function SystemPage() {
  const client = useClient()
  const { answer, problem, reload } = useQuery({
    key: ['/v1/system'],
    load: () => client.get('/v1/system'),
    every: () => PERIOD,
  })
  useTitle('System')
  if (!answer) return <NotLoaded problem={problem} reload={reload} />

  async function retry(code: string) {
    const result = await client.post('/v1/system/retry', { body: { code: code as TransientErrorCode } })
    if (!result.ok) announce(explain(result))
    else announce(`${plural(result.started, 'track')} started again${result.left > 0 ? `, ${result.left} left` : ''}`)
    await reload()
  }
  const { system } = answer
  return (
    <>
      <div class="page-head">
        <div>
          <h1>System</h1>
          <p class="soft">{system.failing.length === 0 ? 'Everything works.' : 'Something needs attention.'}</p>
        </div>
      </div>
      <NotRenewed problem={problem} reload={reload} />
      {system.failing.map((part) => (
        <div key={part} class="problem" role="alert">
          <p>{FAILING[part]}</p>
        </div>
      ))}
      {system.missing.length > 0 && <p>Missing: {system.missing.join(', ')}. Run npm run deploy.</p>}
      <Health system={system} />
      <section class="table-group" aria-labelledby="jobs-title">
        <h2 id="jobs-title">Jobs</h2>
        <Jobs jobs={system.jobs} />
      </section>
      <section class="table-group" aria-labelledby="failures-title">
        <h2 id="failures-title">Failed in the last 24 hours</h2>
        <Failures failures={system.failures} retry={retry} />
      </section>
    </>
  )
}

const fullness = (fraction: number) =>
  `${(fraction * 100).toFixed(1)} % full${fraction >= FILL_WARNING ? ': make room' : ''}`

function Health({ system: { database, transcoder, last_sweep_at, last_event_at } }: { system: System }) {
  const figures: [string, string][] = [
    ['Database', database.milliseconds === null ? 'no response' : `${database.milliseconds} ms`],
    ['Database size', database.fraction === null ? 'unknown' : fullness(database.fraction)],
    ['Transcoder', `${transcoder.busy} of ${transcoder.slots} busy`],
    ['Last sweep', last_sweep_at ? ago(last_sweep_at) : 'not yet'],
    ['Last upload event from R2', last_event_at ? ago(last_event_at) : 'not yet'],
  ]
  return <Figures figures={figures} />
}

const count = (of: number | undefined) => (of ?? 0).toLocaleString('en')

function Jobs({ jobs }: Pick<System, 'jobs'>) {
  const kinds = [...new Set([...Object.keys(KINDS), ...jobs.map(({ kind }) => kind)])]
  return (
    <NumberTable head={['Kind', 'Open', 'Oldest', 'Done in 24 h', 'Failed in 24 h']}>
      {kinds.map((kind) => {
        const of = (state: string) => jobs.find((row) => row.kind === kind && row.state === state)
        const age = of('open')?.oldest_age ?? null
        return (
          <tr key={kind}>
            <th scope="row">{KINDS[kind] ?? kind}</th>
            <NumberCell label="Open">{count(of('open')?.count)}</NumberCell>
            <NumberCell label="Oldest">{age === null ? '–' : length(age)}</NumberCell>
            <NumberCell label="Done in 24 h">{count(of('done')?.count)}</NumberCell>
            <NumberCell label="Failed in 24 h">{count(of('failed')?.count)}</NumberCell>
          </tr>
        )
      })}
    </NumberTable>
  )
}

type Retry = (code: string) => Promise<void>

function Failures({ failures, retry }: Pick<System, 'failures'> & { retry: Retry }) {
  if (failures.length === 0) return <Empty title="None">There were no failures.</Empty>
  return (
    <NumberTable head={['Reason', 'Jobs', 'Can be retried']}>
      {failures.map(({ code, count: failed, retryable }) => (
        <tr key={code}>
          <th scope="row" class="reason">
            <code>{code}</code>
            <span class="soft">{MEANINGS[code] ?? ''}</span>
          </th>
          <NumberCell label="Jobs">{count(failed)}</NumberCell>
          <NumberCell label="Can be retried">
            {retryable > 0 ? (
              <Button small onClick={() => retry(code)}>
                Try {plural(retryable, 'track')} again
              </Button>
            ) : (
              '–'
            )}
          </NumberCell>
        </tr>
      ))}
    </NumberTable>
  )
}
