import { type AddressInfo, createServer } from 'node:net'

/** Reads a port number from an environment variable. Throws if it is invalid; the message is printed in the terminal. */
export function readPort(name: string, fallback: string): number {
  const port = Number(process.env[name] || fallback)
  if (Number.isInteger(port) && port > 0 && port < 65536) return port
  throw new Error(`${name}=${process.env[name]} is not a port number (1 to 65535)`)
}

/** Throws an error that names the remedy if another process listens on the port. */
export async function requireFreePort(name: string, port: number): Promise<void> {
  for (const host of ['127.0.0.1', '::1']) {
    const fault = await tryToListen(port, host)
    // These errors mean that the machine has no IPv6, and so no ::1.
    if (!fault || fault === 'EADDRNOTAVAIL' || fault === 'EAFNOSUPPORT') continue
    const reason = fault === 'EADDRINUSE' ? 'is in use' : `cannot be used (${fault})`
    throw new Error(
      `Port ${port} ${reason}. End what uses it, or choose another one: ${otherSettings(name)}${name}=${port + 10} npm start`,
    )
  }
}

/** Returns the other variables that are set, so that the suggested command contains them. */
const otherSettings = (name: string) =>
  ['EMPTY', 'PORT', 'TRANSCODER_PORT', 'STATE_DIR']
    .filter((other) => other !== name && process.env[other])
    .map((other) => `${other}=${process.env[other]} `)
    .join('')

/** Returns a port of 127.0.0.1 on which nothing listens. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function tryToListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
