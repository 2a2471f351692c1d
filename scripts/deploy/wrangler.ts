import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { root } from '../shared/settings.ts'

/** Runs programs for the deployment. Wrangler never asks questions, because it has no terminal. */

const program = join(root, 'node_modules/wrangler/bin/wrangler.js')

async function run(command: string, args: string[], isShown: boolean) {
  // Wrangler fails to start if it cannot write below HOME. With an API token, it needs nothing from HOME, so another directory is used.
  const config = process.env.CLOUDFLARE_API_TOKEN ? { XDG_CONFIG_HOME: join(root, '.wrangler/deploy/config') } : {}
  const env = { ...config, ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }
  // Programs get the terminal, if there is one, so that they use colors.
  const output = isShown && process.stdout.isTTY ? 'inherit' : 'pipe'
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', output, output] })
  let text = ''
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      if (isShown) process[name].write(part)
      else text += part
    })
  const ended = await once(child, 'close').catch((error: Error) => [error.message])
  return { ok: ended[0] === 0, output: typeof ended[0] === 'string' ? ended[0] : text.trim() }
}

/** Runs a program and shows its output. Returns whether it succeeded. */
export const runProgram = async (command: string, ...args: string[]) => (await run(command, args, true)).ok

export const runNode = (script: string, ...args: string[]) => runProgram(process.execPath, script, ...args)

/** Runs a program and captures its output. */
export const capture = (command: string, ...args: string[]) => run(command, args, false)

export const captureWrangler = (...args: string[]) => capture(process.execPath, program, ...args)

/** Prints a wrangler command and runs it. */
export function runWrangler(account: string, ...args: string[]): Promise<boolean> {
  console.log(`$ npx wrangler ${args.join(' ')}`)
  process.env.CLOUDFLARE_ACCOUNT_ID = account
  return runNode(program, ...args)
}
