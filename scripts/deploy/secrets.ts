import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { AwsClient } from 'aws4fetch'

import { MIN_ROOT_KEY } from '../../src/contract/facts.ts'
import { root } from '../shared/settings.ts'
import { type Account, callApi, Refusal, type AccountState } from './account.ts'
import type { Plan } from './plan.ts'

/** The secrets of the deployed Worker: R2's key pair, and random values that are generated if the Worker has none yet. */

export const endpointOf = (plan: Plan, account_id: string) =>
  plan.vars.S3_ENDPOINT ||
  `https://${account_id}.${plan.jurisdiction ? `${plan.jurisdiction}.` : ''}r2.cloudflarestorage.com`

const hasSecret = (found: AccountState, secret: string) =>
  found.bindings?.some(({ type, name }) => type === 'secret_text' && name === secret) ?? false

type Pair = { R2_ACCESS_KEY_ID: string; R2_SECRET_ACCESS_KEY: string }

/**
 * Returns R2's key pair: from the environment, derived from the API token, or entered in the terminal. Returns an empty object if the
 * Worker keeps its keys.
 */
export async function readKeyPair(plan: Plan, account: Account, found: AccountState): Promise<Partial<Pair>> {
  const fromEnvironment = {
    R2_ACCESS_KEY_ID: process.env.R2_ACCESS_KEY_ID ?? '',
    R2_SECRET_ACCESS_KEY: process.env.R2_SECRET_ACCESS_KEY ?? '',
  }
  if (Boolean(fromEnvironment.R2_ACCESS_KEY_ID) !== Boolean(fromEnvironment.R2_SECRET_ACCESS_KEY))
    throw new Error('R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY go together; one is not set')
  if (
    !fromEnvironment.R2_ACCESS_KEY_ID &&
    hasSecret(found, 'R2_ACCESS_KEY_ID') &&
    hasSecret(found, 'R2_SECRET_ACCESS_KEY')
  )
    return {}
  const pair = fromEnvironment.R2_ACCESS_KEY_ID
    ? fromEnvironment
    : account.hasApiToken
      ? await derivePair(account)
      : await askForPair(plan)
  await verifyKeyPair(plan, account.id, pair)
  return pair
}

/** Derives R2's key pair from the API token. The id of a token and the SHA-256 of its value are a key pair with the token's permissions. */
async function derivePair({ id, token }: Account): Promise<Pair> {
  const verified = await callApi<{ id: string }>(token, 'GET', '/user/tokens/verify').catch(() =>
    callApi<{ id: string }>(token, 'GET', `/accounts/${id}/tokens/verify`),
  )
  console.log(
    "        The bucket's keys come from CLOUDFLARE_API_TOKEN: do not delete that token (docs/operate.md#new-keys).",
  )
  return { R2_ACCESS_KEY_ID: verified.id, R2_SECRET_ACCESS_KEY: createHash('sha256').update(token).digest('hex') }
}

async function askForPair({ bucket }: Plan): Promise<Pair> {
  const instructions = `In the dashboard (R2, Manage API tokens) make one with "Object Read & Write" for all buckets, or for ${bucket} if it is there`
  if (!process.stdin.isTTY)
    throw new Error(
      `are not set. ${instructions}, and give R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY in the environment`,
    )
  console.log(`\n${instructions}.`)
  return {
    R2_ACCESS_KEY_ID: await askHidden('Access Key ID: ', /^[0-9a-f]{32}$/, '32 digits and letters a to f'),
    R2_SECRET_ACCESS_KEY: await askHidden(
      'Secret Access Key (not shown): ',
      /^[0-9a-f]{64}$/,
      '64 digits and letters a to f',
    ),
  }
}

/** Asks a question until the answer has the required form. The terminal does not show the input. */
async function askHidden(question: string, form: RegExp, hint: string): Promise<string> {
  for (;;) {
    process.stdout.write(question)
    const reader = createInterface({ input: process.stdin, terminal: true, output: undefined })
    const answer = await new Promise<string>((resolve, reject) => {
      reader.once('line', resolve)
      reader.once('SIGINT', () => reject(new Refusal('Nothing was changed.')))
      reader.once('close', () => reject(new Refusal('Nothing was changed.')))
    })
    reader.removeAllListeners().close()
    process.stdout.write('\n')
    if (form.test(answer.trim())) return answer.trim()
    console.log(`That is not ${hint}.`)
  }
}

/** Throws when R2 rejects the key pair. If R2 responds that the bucket is missing or forbidden, the pair is valid. */
export async function verifyKeyPair(
  plan: Plan,
  account_id: string,
  pair: Partial<Pair>,
  mustExist = false,
): Promise<void> {
  const keys = { accessKeyId: pair.R2_ACCESS_KEY_ID ?? '', secretAccessKey: pair.R2_SECRET_ACCESS_KEY ?? '' }
  const client = new AwsClient({ ...keys, service: 's3', region: 'auto', retries: 2 })
  const response = await client.fetch(`${endpointOf(plan, account_id)}/${plan.bucket}?list-type=2&max-keys=1`)
  const text = await response.text()
  if (response.ok || (!mustExist && /NoSuchBucket|AccessDenied/.test(text))) return
  const reason = /<Message>(.*?)<\/Message>/.exec(text)?.[1] ?? String(response.status)
  throw new Refusal(`R2 does not take the keys for the bucket ${plan.bucket}: ${reason}`)
}

const random = () => randomBytes(32).toString('hex')

/**
 * Returns the path of the file with a generated ROOT_KEY. The file exists until the key has been shown, so that the key is not lost if the
 * deployment fails.
 */
const pathOfKey = (plan: Plan, account_id: string) =>
  join(root, '.wrangler/deploy', `${account_id}-${plan.name}.root_key`)

export function savedRootKey(plan: Plan, account_id: string): string | undefined {
  try {
    return readFileSync(pathOfKey(plan, account_id), 'utf8').trim()
  } catch {
    return undefined
  }
}

export const deleteSavedRootKey = (plan: Plan, account_id: string) =>
  rmSync(pathOfKey(plan, account_id), { force: true })

/** Throws if ROOT_KEY is short, or if it would be generated in CI, because the key would appear in the log or be lost with the machine. */
export function requireRootKey(found: AccountState): void {
  const { CI, ROOT_KEY } = process.env
  if (ROOT_KEY && ROOT_KEY.length < MIN_ROOT_KEY)
    throw new Refusal(
      `ROOT_KEY has fewer than ${MIN_ROOT_KEY} characters: make another (openssl rand -hex 32) and keep it.\nNothing was changed.`,
    )
  if (!CI || ROOT_KEY || hasSecret(found, 'ROOT_KEY')) return
  throw new Refusal(
    'In CI the key of the operator is given: make one (openssl rand -hex 32), keep it, and set it as ROOT_KEY.\nNothing was changed.',
  )
}

/** Returns all secrets that this deployment sets. */
export function secretsToSet(plan: Plan, account_id: string, found: AccountState): Record<string, string> {
  const { url, keys = [] } = found.media ?? {}
  const secrets: Record<string, string> = { ...found.pair, ...(url && { MEDIA_BASE_URL: url, MEDIA_KEY: keys[0] }) }
  for (const name of plan.secrets) {
    if (name in secrets) continue
    if (name === 'ROOT_KEY' && process.env.ROOT_KEY) secrets[name] = process.env.ROOT_KEY
    else if (hasSecret(found, name)) continue
    else if (name === 'ROOT_KEY')
      secrets[name] = savedRootKey(plan, account_id) ?? saveRootKey(plan, account_id, `ta_root_${random()}`)
    else secrets[name] = random()
  }
  return secrets
}

function saveRootKey(plan: Plan, account_id: string, key: string): string {
  mkdirSync(join(root, '.wrangler/deploy'), { recursive: true })
  writeFileSync(pathOfKey(plan, account_id), key, { mode: 0o600 })
  return key
}
