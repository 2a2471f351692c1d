/** The entry point `@tonearm/client/sign`: signs play sessions on a server (docs/signed_sessions.md). */
export { type SignedSession, signPlaySession } from '../../src/client/sign.ts'
