/** A random `Idempotency-Key`, also on pages without https, where browsers have no `crypto.randomUUID`. */
export const newTicket = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
