import { eq } from 'drizzle-orm'

import { usageDays } from '../../adapters/db/schema/usage.ts'
import type { Handlers } from '../../context.ts'
import type { usageOperations } from '../../contract/usage.ts'
import { invalid } from '../../core/errors.ts'
import { readQuotas } from '../../pipeline/quota.ts'
import { firstReportedDay } from '../../pipeline/usage.ts'

const DAY = 24 * 3600_000
/** Number of days in the response if the request has no start date. */
const DEFAULT_DAYS = 30

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)

export const usageHandlers: Handlers<typeof usageOperations> = {
  async getUsage({ query }, context) {
    const { db, now, principal } = context
    const [first, today] = [firstReportedDay(now), dateOf(now)]
    const { to = today } = query
    if (to < first || to > today) throw invalid('to', `must lie between ${first} and ${today}`)
    const defaultFrom = dateOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY)
    const { from = defaultFrom < first ? first : defaultFrom } = query
    if (from < first || from > to) throw invalid('from', `must lie between ${first} and ${to}`)

    // There is at most one row per day, which contains the changes on that day.
    const rows = await db.select().from(usageDays).where(eq(usageDays.organization_id, principal.organization_id))
    const byDate = new Map(rows.map((row) => [row.date, row]))
    const sums = new Map([['original', { variant: 'original', bytes: 0, files: 0 }]])
    for (const [variant, [bytes, files]] of rows.flatMap((row) => Object.entries(row.files))) {
      const sum = sums.get(variant)
      sums.set(variant, { variant, bytes: bytes + (sum?.bytes ?? 0), files: files + (sum?.files ?? 0) })
    }
    const [original, ...variantSums] = sums.values()
    const variants = variantSums
      .filter(({ files }) => files > 0)
      .toSorted((a, b) => b.bytes - a.bytes || (a.variant < b.variant ? -1 : 1))
    const days = []
    for (let time = Date.parse(from); time <= Date.parse(to); time += DAY) {
      const date = dateOf(time)
      const { uploads = 0, upload_bytes = 0, sessions = 0 } = byDate.get(date) ?? {}
      days.push({ date, uploads, upload_bytes, sessions })
    }
    const quotas = await readQuotas(context, { organization_id: principal.organization_id })
    const quota = quotas.find(({ scope }) => scope === 'organization')
    return {
      usage: {
        tracks: original!.files,
        duration: rows.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000,
        bytes: { total: variants.reduce((sum, { bytes }) => sum + bytes, original!.bytes), original: original!.bytes },
        variants,
        days,
      },
      quota: quota!,
    }
  },
}
