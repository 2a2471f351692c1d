import { encoder, hex, hmac, importKey } from '../../adapters/bucket/presign.ts'

/** Returns the form in which a listener is stored. `key` is the `listener_key` of the organization, so the form differs between organizations. */
export const hashListener = async (key: string, listener: string): Promise<string> =>
  hex(await hmac(await importKey(encoder.encode(`listener ${key}`)), listener)).slice(0, 32)
