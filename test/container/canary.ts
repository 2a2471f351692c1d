import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

/** Starts an HTTP server that records every request. */
export async function startCanaryServer() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.end('tweet')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    requests,
    url: (path: string) => `http://127.0.0.1:${port}/${path}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Creates files that record whether they are opened. They are FIFOs: a writer waits on each one and unblocks when a reader opens it. */
export async function createCanaryFiles(paths: string[]) {
  const opened: string[] = []
  for (const path of paths) {
    execFileSync('mkfifo', [path])
    // The files are world-readable, so the test proves that no process tries to open them, and not that permissions prevent it.
    await chmod(path, 0o666)
  }
  const watchers = paths.map((path): ChildProcess => {
    const watcher = spawn('sh', ['-c', 'exec 3>"$1"; echo "$1"', 'sh', path], { stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface({ input: watcher.stdout }).on('line', (line) => opened.push(line))
    return watcher
  })
  return {
    opened,
    /** Opens a file, as an attack would. */
    touch: (path: string) => execFileSync('cat', [path]),
    close() {
      for (const watcher of watchers) watcher.kill('SIGKILL')
    },
  }
}
