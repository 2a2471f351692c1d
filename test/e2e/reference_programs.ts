import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { marked, type Tokens } from 'marked'

import { translate } from '../../scripts/build/docs/commands.ts'

/** The code that runs with the code in the documentation (reference_code.test.ts). */

/** Returns the translations of the commands in all guides, each with a name. */
export async function translatedCommands(language: 'ts' | 'python'): Promise<[name: string, code: string][]> {
  const docs = join(import.meta.dirname, '../../docs')
  const pages = (await readdir(docs)).filter((name) => name.endsWith('.md')).toSorted()
  const texts = await Promise.all(pages.map((name) => readFile(join(docs, name), 'utf8')))
  const blocks = texts
    .flatMap((text) => marked.lexer(text))
    .filter((token): token is Tokens.Code => token.type === 'code')
  const samples = blocks
    .flatMap(({ lang, text }) => (lang === 'bash' ? (translate(text) ?? []) : []))
    .filter((sample) => sample.language === language)
  if (samples.length < 15) throw new Error(`Only ${samples.length} blocks of commands are translated`)
  return samples.map(({ code }, at) => [`command_${at}`, code])
}

/** Plays two seconds with the module in docs/listening.md, and prints the responses to the reports. */
export const PLAY = `
const [service, id, heard_token] = process.argv.slice(2) as [string, string, string]
const request = globalThis.fetch
globalThis.fetch = async (url, init) => {
  const response = await request(url, init)
  const { listens } = JSON.parse(init!.body as string)
  console.log(response.status, String(url).split('/').at(-1)!.slice(0, 8), JSON.stringify(listens[0].ranges))
  return response
}
const player = { track: { id, duration: 2 }, position: 0, rate: 1, isMuted: false, isRunning: true }
const tokens = ['first', heard_token]
const reports = await startReports(service, player, async () => ({ heard_token: tokens.shift()! }))
const began = performance.now()
reports.start()
for (let left = 8; left >= 0; left--) {
  player.position = Math.min(2, (performance.now() - began) / 1000)
  reports.measure()
  await new Promise((resolve) => setTimeout(resolve, 250))
}
reports.end()
await reports.sendAll()
await reports.sendAll()`

/** Runs the samples with a client that sends nothing, and prints their requests. */
export const RECORD_PYTHON = `import contextlib, io, json, os, sys
from tonearm._transport import Transport

def send(self, request):
    headers = {name.lower(): value for name, value in request.header_items()}
    body = json.loads(request.data) if request.data else None
    sent[name] = {"method": request.method, "url": request.full_url, "body": body, "headers": headers}
    return Answer(ok=True)

class Answer(dict):
    def __missing__(self, name):
        return self

sys.argv = ["", *["0003c1b2-0000-4000-8000-000000000000"] * 3]
Transport._send = send
sent = {}
for name, code in json.load(open("samples.json")):
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, {})
print(json.dumps(sent))`
