import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'

import { copyRows } from '../../../src/listening/copy.ts'
import { aListen, aListener } from '../support/heard.ts'

/** The pages of a backup of an object (docs/decisions/0080). */

const LISTENERS = Array.from({ length: 700 }, (_, at) => String(at).padStart(3, '0'))

it('a listener who is forgotten between two pages costs no other row', async () => {
  const { send, object, track_id } = await aListener()
  await send(aListen(track_id)([[0, 40]]))
  await runInDurableObject(object(), (_, { storage: { sql } }) => {
    for (const listener of LISTENERS)
      for (const track of ['a', 'b'])
        sql.exec('insert into progress values (?, ?, 200, ?, 4, 0)', listener, track, '[[0,4]]')
    const copied: string[] = []
    for (let after: string | null = null, pages = 0; ; pages++) {
      const page: ReturnType<typeof copyRows> = copyRows(sql, after)
      for (const { name, row } of page!.rows) {
        const { listener, track, id } = JSON.parse(row) as Record<string, string | number>
        copied.push(name === 'progress' ? `${listener} ${track}` : `${name} ${id}`)
      }
      if (page!.after === null) break
      ;({ after } = page!)
      sql.exec('delete from progress where listener = ?', LISTENERS[pages]!)
    }
    // The first listeners are forgotten before their page is read: three tables come before that of the progress.
    const rest = LISTENERS.slice(3).flatMap((listener) => [`${listener} a`, `${listener} b`])
    expect(copied).toEqual(expect.arrayContaining([...rest, 'segment 1']))
    expect(new Set(copied).size).toBe(copied.length)
  })
})
