import { env } from 'cloudflare:workers'
import { format } from 'sql-formatter'
import { expect, it } from 'vitest'

import { signPlaySession } from '../../src/client/sign.ts'
import { aCollection, anApiKey, aPlaySession, ok } from './support/api.ts'
import { aTenant, batchTracks, runSweep } from './support/fixtures.ts'
import { aProcessedTrack, uploadAndProcess } from './support/processed_track.ts'
import { recordStatements, type SentStatement } from './support/row_counter.ts'
import { serveTranscoder } from './support/transcoder.ts'

/**
 * The largest statements of the service as formatted SQL, so that a changed statement shows in a diff (docs/development/tests.md). Each was sent to D1
 * during a scenario.
 */

/** By the name of the file: which function sends the statement and what for, how its text starts, and a part that no other such text has. */
const STATEMENTS: Record<string, [sender: string, start: string, part: string]> = {
  reserve_upload: [
    'reserveUpload (src/domain/quota.ts): reserves the bytes of an upload unless a quota forbids it',
    'insert into "reservations"',
    'as quotas where exceeded = 0',
  ],
  add_upload_handle: [
    'addHandle (src/resources/library/upload_handle.ts): lets a track wait for the file of a new upload handle',
    'update "tracks"',
    'max(upload_suffix',
  ],
  take_file: [
    'startTranscode (src/domain/transcode/start.ts) for useAsSource (src/domain/ingest.ts): makes an uploaded file the source of its track',
    'update "tracks"',
    '"source_suffix" = ?',
  ],
  load_transcode: [
    'loadTask (src/domain/transcode/request.ts): reads the track of a transcode, with everything that the track inherits',
    'select "tracks"',
    'uses_tags',
  ],
  finish_transcode: [
    'finishTranscode (src/background/transcode/result.ts): writes the result of a transcode into its track',
    'update "tracks"',
    '"made_with" = ?',
  ],
  purge_replaced_files: [
    'purgeLaterFrom (src/domain/cleanup/purge.ts) for finishTranscode: inserts the job that deletes the files replaced by a transcode',
    'insert into "jobs"',
    'except select path',
  ],
  search_tracks: [
    'pageQuery (src/resources/list/filtered_list.ts): reads a page of the tracks that match a search',
    'select "tracks"."id"',
    'search match ?',
  ],
  play_session: [
    'firstPlayRows (src/adapters/db/play/first_play_rows.ts): reads a play session and the play view of its first track',
    'select sessions."id"',
    'from play_sessions as sessions',
  ],
  signed_session: [
    'signedRows.first (src/adapters/db/play/signed_rows.ts): the same for a signed play session, with the state of its key',
    'select sessions."id"',
    'from api_keys',
  ],
  embed: [
    'embedRows (src/adapters/db/play/embed_rows.ts): reads what a session shows before it plays',
    'select play_sessions."organization_id"',
    'track_file_name',
  ],
  move_tracks: [
    'moveStatements (src/resources/edit/track_move.ts): orders the tracks that move to other collections',
    'update "tracks"',
    'goal_order',
  ],
  restore_tracks: [
    'restoration (src/resources/library/restore_from_trash.ts): inserts the rows of tracks from the trash',
    'insert into "tracks"',
    'from trash',
  ],
  due_tasks: [
    'findDueTasks (src/background/sweep.ts): reads which phases of a sweep have something to do',
    'select exists (select 1 from jobs',
    'is_handle_due',
  ],
}

/** Sends each of the statements at least once. Returns everything that was sent. */
async function runScenario(): Promise<SentStatement[]> {
  serveTranscoder()
  const { key, collection_id } = await aTenant()
  const sent = recordStatements()
  const track_id = await aProcessedTrack(key, collection_id)
  await ok('POST', `/v1/track/${track_id}/upload`, { key, body: { file_name: 'b.wav' } })
  await uploadAndProcess(key, track_id)
  await ok('GET', '/v1/track?q=wav&status=ready', { key })
  const { play_session_id } = await aPlaySession(key, 'collection', collection_id, { is_downloadable: true })
  await ok('GET', `/v1/play/${play_session_id}`)
  await ok('GET', `/v1/play/${play_session_id}/download`)
  const { secret } = await anApiKey(key, { type: 'signing' })
  await ok('GET', `/v1/play/${await signPlaySession(secret, { scope: 'collection', id: collection_id })}`)
  const goal = await aCollection(key)
  await batchTracks(key, [{ action: 'move', track_id, collection_id: goal.id }])
  await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
  await ok('POST', `/v1/trash/${track_id}/restore`, { key })
  await runSweep()
  return [...sent]
}

/** Formats a statement and numbers its parameters. */
function formatted({ sql, params }: SentStatement): string {
  let number = 0
  const numbered = sql.replaceAll(/\?(?!\d)/g, () => `?${++number}`)
  // Statements that name their parameters by number may use one several times.
  if (number > 0) expect(number, 'the question marks in a statement without numbers').toBe(params.length)
  return format(numbered, { language: 'sqlite', keywordCase: 'lower', expressionWidth: 100 })
}

/** Returns the steps of SQLite's plan, each one indented below the step that it is part of. */
async function planOf({ sql, params }: SentStatement): Promise<string[]> {
  const values = params.map((value) => (Array.isArray(value) ? new Uint8Array(value as number[]) : value))
  const { results } = await env.DB.prepare(`explain query plan ${sql}`)
    .bind(...values)
    .all<{ id: number; parent: number; detail: string }>()
  const depthOf = new Map([[0, 1]])
  return results.map(({ id, parent, detail }) => {
    const depth = depthOf.get(parent)!
    depthOf.set(id, depth + 1)
    return `-- ${'  '.repeat(depth)}${detail}`
  })
}

it('the largest statements and their query plans are those in test/worker/statements', async () => {
  const sent = await runScenario()
  for (const [name, [sender, start, part]] of Object.entries(STATEMENTS)) {
    const matching = sent.filter(({ sql }) => sql.startsWith(start) && sql.includes(part))
    const [longest] = matching.toSorted((a, b) => b.sql.length - a.sql.length)
    expect(longest, `${name} was not sent`).toBeDefined()
    const lines = [
      `-- ${sender}.`,
      '',
      `${formatted(longest!)};`,
      '',
      '-- Query plan:',
      ...(await planOf(longest!)),
      '',
    ]
    await expect.soft(lines.join('\n')).toMatchFileSnapshot(`statements/${name}.sql`)
  }
})
