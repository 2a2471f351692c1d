import { ERROR_MEANINGS } from '../../../contract/errors.ts'
import { FILL_WARNING } from '../../../contract/facts.ts'
import type { TransientErrorCode } from '../../../contract/system.ts'
import { FILE_ERRORS, SERVICE_ERRORS, SOURCE_ERRORS, TRACK_ERRORS } from '../../../contract/track_errors.ts'
import type { System } from '../../base/api.ts'
import { ago, explain, length, listText, number } from '../../base/format.ts'
import { failureText, t, text, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { Figures, NumberCell, NumberTable } from '../../ui/charts/figures.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Head } from '../../ui/page/head.tsx'
import { Empty, NotLoaded, NotRenewed } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'

const PERIOD = 10_000

const FAILING: Record<System['failing'][number], string> = {
  configuration: text('The Worker lacks settings, and rejects all requests except play views.'),
  migrations: text('The database lacks a migration.'),
  database: text('The database does not answer.'),
  database_full: text('The database is nearly full: nothing can be added until something is deleted permanently.'),
  restore: text('A restore has not finished: run npm run restore again. Until then, every key is rejected.'),
  sweep: text('The sweep does not run: lost jobs are not retried, and expired data is not deleted.'),
  transcoder: text('The transcoder does not answer.'),
  media: text(
    'The domain of the files serves them without a token. Run npm run deploy -- --media-domain, or remove the domain from the bucket and go back to R2 (docs/media.md).',
  ),
  listening: text('Listening statistics are overdue. Check the log of the Worker.'),
}
const KINDS: Record<string, string> = {
  transcode: text('Tracks to process'),
  cover: text('Covers to process'),
  purge: text('Files to delete'),
  reprocess: text('Collections to update'),
}
const track_not_uploaded = ERROR_MEANINGS.track_not_uploaded
const MEANINGS: Record<string, string> = {
  ...FILE_ERRORS,
  ...SERVICE_ERRORS,
  ...SOURCE_ERRORS,
  ...TRACK_ERRORS,
  track_not_uploaded,
}

/** The page System with the state of the service, which is polled. */
export function SystemPage() {
  const client = useClient()
  const { answer, problem, reload } = useQuery({
    key: ['/v1/system'],
    load: () => client.get('/v1/system'),
    every: () => PERIOD,
  })
  useTitle(t('System'))
  if (!answer) return <NotLoaded problem={problem} reload={reload} title={t('System')} />

  async function retry(code: string) {
    const result = await client.post('/v1/system/retry', { body: { code: code as TransientErrorCode } })
    if (!result.ok) announce(explain(result))
    else {
      const { started, left } = result
      const forms =
        left > 0
          ? { one: '{n} track started again, {left} left', other: '{n} tracks started again, {left} left' }
          : { one: '{n} track started again', other: '{n} tracks started again' }
      announce(tn(forms, started, { left }))
    }
    await reload()
  }
  const { system } = answer
  return (
    <>
      <Head
        title={t('System')}
        note={system.failing.length === 0 ? t('Everything works.') : t('Something needs attention.')}
      />
      <NotRenewed problem={problem} reload={reload} />
      {system.failing.map((part) => (
        <div key={part} class="problem" role="alert">
          <p>{t(FAILING[part])}</p>
        </div>
      ))}
      {system.missing.length > 0 && (
        <p>{t('Missing: {names}. Run npm run deploy.', { names: listText(system.missing) })}</p>
      )}
      <Health system={system} />
      <section class="table-group" aria-labelledby="jobs-title">
        <h2 id="jobs-title">{t('Jobs')}</h2>
        <Jobs jobs={system.jobs} />
      </section>
      <section class="table-group" aria-labelledby="failures-title">
        <h2 id="failures-title">{t('Failed in the last 24 hours')}</h2>
        <Failures failures={system.failures} retry={retry} />
      </section>
    </>
  )
}

const fullness = (fraction: number) =>
  t(fraction >= FILL_WARNING ? text('{n} % full: make room') : text('{n} % full'), { n: (fraction * 100).toFixed(1) })

function Health({ system: { database, transcoder, last_sweep_at, last_event_at } }: { system: System }) {
  const figures: [string, string][] = [
    [t('Database'), database.milliseconds === null ? t('no response') : t('{n} ms', { n: database.milliseconds })],
    [t('Database size'), database.fraction === null ? t('unknown') : fullness(database.fraction)],
    [t('Transcoder'), t('{busy} of {slots} busy', { busy: transcoder.busy, slots: transcoder.slots })],
    [t('Last sweep'), last_sweep_at ? ago(last_sweep_at) : t('not yet')],
    [t('Last upload event from R2'), last_event_at ? ago(last_event_at) : t('not yet')],
  ]
  return <Figures figures={figures} />
}

const count = (of: number | undefined) => number(of ?? 0)

function Jobs({ jobs }: Pick<System, 'jobs'>) {
  const kinds = [...new Set([...Object.keys(KINDS), ...jobs.map(({ kind }) => kind)])]
  return (
    <NumberTable head={[t('Kind'), t('Unfinished'), t('Oldest'), t('Done in 24 h'), t('Failed in 24 h')]}>
      {kinds.map((kind) => {
        const of = (state: string) => jobs.find((row) => row.kind === kind && row.state === state)
        const age = of('open')?.oldest_age ?? null
        return (
          <tr key={kind}>
            <th scope="row">{t(KINDS[kind] ?? kind)}</th>
            <NumberCell label={t('Unfinished')}>{count(of('open')?.count)}</NumberCell>
            <NumberCell label={t('Oldest')}>{age === null ? '–' : length(age)}</NumberCell>
            <NumberCell label={t('Done in 24 h')}>{count(of('done')?.count)}</NumberCell>
            <NumberCell label={t('Failed in 24 h')}>{count(of('failed')?.count)}</NumberCell>
          </tr>
        )
      })}
    </NumberTable>
  )
}

type Retry = (code: string) => Promise<void>

function Failures({ failures, retry }: Pick<System, 'failures'> & { retry: Retry }) {
  if (failures.length === 0) return <Empty title={t('None')}>{t('There were no failures.')}</Empty>
  return (
    <NumberTable head={[t('Reason'), t('Jobs'), t('Can be retried')]}>
      {failures.map(({ code, count: failed, retryable }) => (
        <tr key={code}>
          <th scope="row" class="reason">
            <code>{code}</code>
            <span class="soft">{failureText({ code, message: MEANINGS[code] ?? '' })}</span>
          </th>
          <NumberCell label={t('Jobs')}>{count(failed)}</NumberCell>
          <NumberCell label={t('Can be retried')}>
            {retryable > 0 ? (
              <Button small onClick={() => retry(code)}>
                {tn({ one: 'Try {n} track again', other: 'Try {n} tracks again' }, retryable)}
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
