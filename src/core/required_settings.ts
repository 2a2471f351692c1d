import { MIN_ROOT_KEY } from '../contract/facts.ts'

/** Settings without which the Worker does not work. All other variables may be empty (docs/decisions/0074). */
const REQUIRED = [
  'ROOT_KEY',
  'SIGNING_SECRET',
  'TRANSCODER_SECRET',
  'R2_ACCESS_KEY_ID',
  'R2_SECRET_ACCESS_KEY',
  'S3_ENDPOINT',
  'S3_BUCKET',
  'MAX_UPLOAD_BYTES',
  'MAX_DURATION_SECONDS',
  'DATABASE_LIMIT_BYTES',
  'WEBHOOK_TIMEOUT',
] as const satisfies (keyof Env)[]

/** Settings of a domain of one's own, which MEDIA_DELIVERY=zone requires (docs/decisions/0088). */
const ZONE = ['MEDIA_BASE_URL', 'MEDIA_KEY'] as const satisfies (keyof Env)[]

/** Returns the names of the required settings that are not set or empty. */
export const missingSettings = (env: Env): string[] =>
  [...REQUIRED, ...(env.MEDIA_DELIVERY === 'zone' ? ZONE : [])].filter((name) => !env[name])

/** Returns what the operator must set: the missing settings, and a longer ROOT_KEY if it is short. With a short one, the Worker works. */
export const neededSettings = (env: Env): string[] => [
  ...missingSettings(env),
  ...(env.ROOT_KEY && env.ROOT_KEY.length < MIN_ROOT_KEY ? [`ROOT_KEY with at least ${MIN_ROOT_KEY} characters`] : []),
]
