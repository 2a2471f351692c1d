import { isTransientError } from '../adapters/db/retry.ts'
import { missingMigrationError, missingSettingsError, schemaFault } from '../core/configuration.ts'
import { ApiError, describeError, isFull, storageFull } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { missingSettings } from '../core/required_settings.ts'

/** Returns advice for a caller that repeats the request, which may have taken effect (docs/decisions/0075). */
function advice({ method, headers }: Request): string {
  if (method === 'GET' || method === 'HEAD') return 'Try again'
  const repeat =
    method !== 'POST'
      ? 'Read the current state before you repeat it'
      : headers.has('idempotency-key')
        ? 'Repeat it with the same Idempotency-Key'
        : 'Check before you repeat it: only an Idempotency-Key makes a repeated POST safe'
  return `The request may have taken effect. ${repeat}`
}

/** Logs an internal error, and returns the error that the caller sees instead. */
export function publicError(error: unknown, env: Env, request: Request, api_request_id: string): ApiError {
  log('error', 'fault', { api_request_id, error: describeError(error) })
  const unavailable = (message: string) => new ApiError('unavailable', message, undefined, { 'retry-after': '1' })
  if (isTransientError(error)) return unavailable(`The database did not answer. ${advice(request)}`)
  if (isFull(error)) return storageFull()
  const fault = schemaFault(error)
  if (fault) return missingMigrationError(fault)
  const missing = missingSettings(env)
  if (missing.length > 0) return missingSettingsError(missing)
  return new ApiError('internal', 'Something went wrong on our side')
}
