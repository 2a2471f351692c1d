import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { showLog } from '../support/logs.ts'

test.runIf(process.platform === 'linux')('after any process is killed, every track has its correct file', async () => {
  // The limits only detect a hang. A file whose runtime is killed waits two minutes for the end of the lease, on a slow machine after each kill.
  const limits = ['--limit', '600', '--patience', '600']
  const kills = ['--every', '4', '--kills', '3', '--parts', 'runtime,ffmpeg,transcoder']
  const args = ['--uploads', '4', '--pace', '2', ...kills, ...limits, '--verbose']
  const script = join(import.meta.dirname, '../../bench/chaos/chaos.ts')
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGINT'))
  let output = ''
  showLog('the bench', () => output)
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (output += part))
  const [code] = (await once(child, 'close')) as [number]
  expect(output).toMatch(
    /\n4 of 4 ready, 0 lost, 0 stuck, 0 orphans, 0 missing, 0 twice, 0 under the wrong name, p99 [\d.]+ s\n$/,
  )
  expect(output).toMatch(/kills: \w+ \d/)
  expect(code).toBe(0)
})
