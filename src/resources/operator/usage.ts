import { eq } from 'drizzle-orm'

import { usageDays } from '../../adapters/db/schema/usage.ts'
import type { Handlers } from '../../context.ts'
import { DAY } from '../../contract/time.ts'
import type { usageOperations } from '../../contract/usage.ts'
import { invalid } from '../../core/errors.ts'
import { dateOf } from '../../core/time.ts'
import { readQuotas } from '../../domain/quota.ts'
import { firstReportedDay } from '../../domain/usage.ts'

/** Number of days in the response if the request has no start date. */
const DEFAULT_DAYS = 30

export const usageHandlers: Handlers<typeof usageOperations> = {
  async getUsage({ query }, context) {
    const { db, now, principal } = context
    const [first, today] = [firstReportedDay(now), dateOf(now)]
    const { to = today } = query
    if (to < first || to > today) throw invalid('to', `must be between ${first} and ${today}, not ${to}`)
    const defaultFrom = dateOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY)
    const { from = defaultFrom < first ? first : defaultFrom } = query
    if (from < first || from > to) throw invalid('from', `must be between ${first} and ${to}, not ${from}`)

    // There is at most one row per day, which contains the changes on that day.
    const rows = await db
      .select()
      .from(usageDays)
      .where(eq(usageDays.organization_id, principal.organization_id))
      .orderBy(usageDays.date)
    const sums = new Map([['original', { variant: 'original', bytes: 0, files: 0 }]])
    const total = { milliseconds: 0, bytes: 0 }
    let next = 0
    /** Adds the changes until the end of a day. */
    function addUntil(date: string) {
      for (; next < rows.length && rows[next]!.date <= date; next++) {
        total.milliseconds += rows[next]!.milliseconds
        for (const [variant, [bytes, files]] of Object.entries(rows[next]!.files)) {
          const sum = sums.get(variant)
          sums.set(variant, { variant, bytes: bytes + (sum?.bytes ?? 0), files: files + (sum?.files ?? 0) })
          total.bytes += bytes
        }
      }
    }
    const days = []
    for (let time = Date.parse(from); time <= Date.parse(to); time += DAY) {
      const date = dateOf(time)
      addUntil(date)
      const { uploads = 0, upload_bytes = 0, sessions = 0 } = rows[next - 1]?.date === date ? rows[next - 1]! : {}
      const tracks = sums.get('original')!.files
      const { milliseconds, bytes } = total
      days.push({ date, uploads, upload_bytes, sessions, tracks, duration: milliseconds / 1000, bytes })
    }
    // The database's clock may be ahead of the Worker's.
    addUntil('9999')
    const [original, ...variantSums] = sums.values()
    const variants = variantSums
      .filter(({ files }) => files > 0)
      .toSorted((a, b) => b.bytes - a.bytes || (a.variant < b.variant ? -1 : 1))
    const quotas = await readQuotas(context, { organization_id: principal.organization_id })
    const quota = quotas.find(({ scope }) => scope === 'organization')
    return {
      usage: {
        tracks: original!.files,
        duration: total.milliseconds / 1000,
        bytes: { total: total.bytes, original: original!.bytes },
        variants,
        days,
      },
      quota: quota!,
    }
  },
}
