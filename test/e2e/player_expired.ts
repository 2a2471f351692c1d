import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import type { Shared } from './shared_stack.ts'

const HOUR = 3600_000

/** Ends a play session some hours ago: its end is put back where it is written down. */
export function expirePlaySession({ state_dir }: Shared, play_session_id: string, hours: number): void {
  for (const file of readdirSync(state_dir, { recursive: true, encoding: 'utf8' })) {
    if (!/d1.*\.sqlite$/.test(file) || file.includes('metadata')) continue
    const database = new DatabaseSync(join(state_dir, file), { timeout: 10_000 })
    try {
      database
        .prepare('update play_sessions set expires_at = ? where id = ?')
        .run(Date.now() - hours * HOUR, play_session_id)
    } finally {
      database.close()
    }
  }
}
