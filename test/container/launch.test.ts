import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { createCoverDecoder } from '../../container/audio/cover_decoder.ts'
import { noLandlock, noLimits, noNetworks } from './machine.ts'

/** The launcher that drops rights and becomes ffmpeg (docs/decisions/0017). */

const writable = mkdtempSync(join(tmpdir(), 'tonearm-launch-'))
chmodSync(writable, 0o755)
// A copy, because an ordinary user may not be able to enter the directory of the checkout.
const LAUNCHER = join(writable, 'launch.pl')
copyFileSync(join(import.meta.dirname, '../../container/process/launch.pl'), LAUNCHER)
afterAll(() => rmSync(writable, { recursive: true }))

const EXECUTABLES = ['/usr', '/bin', '/lib', '/lib64'].join('\n')
const through = (...layers: string[]) => ['perl', LAUNCHER, process.arch, layers.join(','), writable, EXECUTABLES]
/** The start of a command that an ordinary user runs. The tests may run as root, which may do more. */
const asUser = process.getuid?.() === 0 ? through('user') : []

function run(...command: string[]) {
  const { status, stdout, stderr } = spawnSync(command[0]!, command.slice(1), { encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe.skipIf(noLimits !== null)('the launcher', () => {
  it.each(['batch', 'limits', 'no_new_privs'])('applies the layer %s alone, as an ordinary user', (layer) => {
    expect(run(...asUser, ...through(layer), 'true')).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('applies the layer files alone, as an ordinary user', ({ skip }) => {
    skip(noLandlock !== null, noLandlock ?? '')
    expect(run(...asUser, ...through('files'), 'cat', '/etc/passwd')).toMatchObject({ status: 1, stdout: '' })
    expect(run(...asUser, ...through('batch'), 'cat', '/etc/passwd')).toMatchObject({ status: 0 })
  })

  it('allows files in one directory, and only reading and starting elsewhere', ({ skip }) => {
    skip(noLandlock !== null, noLandlock ?? '')
    const file = join(writable, 'file')
    const script = `echo one > ${file} && echo two > ${file} && cat ${file} && rm ${file}; mkdir ${file}; echo > ${writable}-x`
    const { stdout, stderr } = run(...through('files'), 'sh', '-c', script)
    expect(stdout).toBe('two\n')
    expect(stderr.match(/denied/g)).toHaveLength(2)
  })

  it('adds no open file and no variable to those of the program', ({ skip }) => {
    skip(noLandlock !== null, noLandlock ?? '')
    const list = ['perl', '-e', 'for (3 .. 255) { print "$_ " if open(my $file, "<&=", $_) } print sort keys %ENV']
    expect(run(...through('limits', 'no_new_privs', 'files'), ...list)).toEqual(run(...list))
  })

  it('exits with 125 and the reason if a layer does not work, and with 127 if the program does not start', () => {
    // The first layer takes the rights that the second one needs.
    const layers = process.getuid?.() === 0 ? ['user', 'user'] : ['user']
    expect(run(...through(...layers), 'true')).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/^launch\.pl: [\w ]+: Operation not permitted\n$/),
    })
    expect(run(...through('batch'), '/nonexistent')).toEqual({
      status: 127,
      stdout: '',
      stderr: 'launch.pl: /nonexistent: No such file or directory\n',
    })
  })
})

/**
 * Returns a program that a faulty image decoder could become: it reads a file and the environment of its parent, writes a file, and opens a connection. The icon
 * of its cover reports what worked.
 */
const spy = (secret: string, port: number) => `
const { readFileSync, writeFileSync } = require('node:fs')
const attempt = (act) => { try { act(); return 'worked' } catch (error) { return error.code } }
const report = {
  environment: Object.keys(process.env).sort(),
  file: attempt(() => readFileSync(${JSON.stringify(secret)})),
  parent: attempt(() => readFileSync('/proc/' + process.ppid + '/environ')),
  write: attempt(() => writeFileSync(__filename + process.pid, '')),
  input: readFileSync(0).length,
}
const answer = (network) => {
  const file = (text) => Buffer.from(text).toString('base64')
  const squares = { icon: file(JSON.stringify({ ...report, network })), small: file('x'), regular: file('x') }
  console.log(JSON.stringify({ image_colors: [], squares }))
  process.exit()
}
const socket = require('node:net').connect(${port}, '127.0.0.1', () => answer('worked'))
socket.on('error', (error) => answer(error.code))`

describe.skipIf(noLimits !== null)('the process that decodes a cover', () => {
  const code = mkdtempSync(join(tmpdir(), 'tonearm-code-'))
  const server = createServer().listen(0, '127.0.0.1')
  afterAll(() => {
    server.close()
    rmSync(code, { recursive: true })
  })

  it('reads neither files nor the environment of the service, writes nothing and reaches no network', async ({
    skip,
  }) => {
    skip(noLandlock !== null, noLandlock ?? '')
    skip(noNetworks !== null, noNetworks ?? '')
    const [program, secret] = [join(code, 'spy.cjs'), join(writable, 'secret')]
    writeFileSync(secret, 'secret')
    for (const path of [code, writable]) chmodSync(path, 0o777)
    writeFileSync(program, spy(secret, (server.address() as AddressInfo).port))
    const picture = Buffer.from('GIF89a')
    const reportOf = (icon: string) => JSON.parse(Buffer.from(icon, 'base64').toString()) as object

    const bare = spawnSync(process.execPath, [program], { input: picture, encoding: 'utf8' })
    const worked = { file: 'worked', parent: 'worked', write: 'worked', network: 'worked' }
    expect(reportOf(JSON.parse(bare.stdout).squares.icon)).toMatchObject(worked)

    const { squares } = await createCoverDecoder(program)(picture, new AbortController().signal)
    expect(JSON.parse(squares.icon.toString())).toEqual({
      environment: ['GCONV_PATH', 'PATH'],
      file: 'EACCES',
      parent: 'EACCES',
      write: 'EACCES',
      input: picture.length,
      network: 'ENETUNREACH',
    })
  })
})
