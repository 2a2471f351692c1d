import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'

/** Parts of packages.test.ts: commands, the list of the packages, and a site. */

/** Runs a command in a directory, and returns its output. The error of a failure includes it as well. */
export async function runCommand(
  command: string,
  args: string[],
  cwd: string,
  vars: Record<string, string> = {},
): Promise<string> {
  const { NODE_ENV: _, ...env } = { ...process.env, ...vars }
  const { stdout } = await promisify(execFile)(command, args, { cwd, env }).catch(
    (error: Error & { stdout: string }) => {
      throw new Error(`${error.message}\n${error.stdout}`)
    },
  )
  return stdout
}

/** An entry of `/packages/index.json`. */
export interface Served {
  name: string
  version: string
  url: string
  size: number
  sha256: string
  integrity: string
}

/** Returns the packages that a service lists. */
export async function servedPackages(base_url: string): Promise<Served[]> {
  return ((await (await fetch(`${base_url}/packages/index.json`)).json()) as { packages: Served[] }).packages
}

export interface Site {
  server: Server
  origin: string
}

const TYPES: Record<string, string> = { '.js': 'text/javascript', '.html': 'text/html', '.css': 'text/css' }

/** Starts a site with a strict policy: it allows only the site's own scripts and styles, and no text can become a script. */
export async function startSite(folder: string, service: string): Promise<Site> {
  const policy = [
    `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ${service}; img-src ${service}`,
    `media-src ${service}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`,
  ].join('; ')
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname.replace(/\/$/, '/index.html')
    readFile(join(folder, path)).then(
      (content) =>
        response
          .writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain', 'content-security-policy': policy })
          .end(content),
      () => response.writeHead(path === '/favicon.ico' ? 204 : 404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
