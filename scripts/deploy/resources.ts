import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { root } from '../shared/settings.ts'
import { type Account, callApi, findResource, type AccountState } from './account.ts'
import type { Plan } from './plan.ts'

/** Creates the queues, the bucket and the database if they do not exist. Returns the id of the database. */
export async function createResources(plan: Plan, { id, token }: Account, found: AccountState): Promise<string> {
  const create = async <T>(label: string, path: string, body: object): Promise<T> => {
    const created = await callApi<T>(token, 'POST', `/accounts/${id}${path}`, body, plan.jurisdiction)
    console.log(`created ${label}`)
    return created
  }
  // The queues are created first: for an account on the free plan, this fails before anything is created.
  for (const queue of plan.queues.filter((name) => !found.queues[name]))
    found.queues[queue] = (
      await create<{ queue_id: string }>(`queue ${queue}`, '/queues', { queue_name: queue })
    ).queue_id
  const { location, jurisdiction } = plan
  found.bucket ??= await create(`bucket ${plan.bucket}`, '/r2/buckets', { name: plan.bucket, locationHint: location })
  if (found.database) return found.database
  const body = { name: plan.database, primary_location_hint: location, jurisdiction }
  return (await create<{ uuid: string }>(`database ${plan.database}`, '/d1/database', body)).uuid
}

interface Rule {
  prefix?: string
  suffix?: string
  actions: string[]
}

const ACTIONS = ['PutObject', 'CompleteMultipartUpload', 'CopyObject']

/** Configures the bucket: allows requests from browsers (CORS), and sends upload events to the ingest queue. */
export async function configureBucket(plan: Plan, { id, token }: Account, found: AccountState): Promise<void> {
  // Every origin is allowed, because the signature in the URL authorizes a request.
  const cors = JSON.parse(readFileSync(join(root, 'scripts/deploy/cors.json'), 'utf8')) as { rules: unknown[] }
  const path = `/accounts/${id}/r2/buckets/${plan.bucket}/cors`
  const present = await findResource<{ rules: unknown[] }>(token, path, plan.jurisdiction)
  if (!isDeepStrictEqual(present?.rules, cors.rules)) await callApi(token, 'PUT', path, cors, plan.jurisdiction)
  console.log('ok      browser access to the bucket (CORS)')

  const rules = `/accounts/${id}/event_notifications/r2/${plan.bucket}/configuration`
  const [ingest = ''] = plan.queues
  const queue_id = found.queues[ingest] ?? ''
  const configuration = await findResource<{ queues?: { queueId: string; rules: Rule[] }[] }>(
    token,
    rules,
    plan.jurisdiction,
  )
  const isSubscribed = (configuration?.queues ?? []).some(
    (queue) =>
      queue.queueId.replaceAll('-', '') === queue_id.replaceAll('-', '') &&
      queue.rules.some(
        (rule) => !rule.suffix && rule.prefix === 'uploads/' && ACTIONS.every((name) => rule.actions.includes(name)),
      ),
  )
  const body = { rules: [{ prefix: 'uploads/', actions: ACTIONS }] }
  if (!isSubscribed) await callApi(token, 'PUT', `${rules}/queues/${queue_id}`, body, plan.jurisdiction)
  console.log(`ok      uploads notify the queue ${ingest}`)
}
