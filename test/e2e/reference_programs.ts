/** The code that runs with the code in the documentation (reference_code.test.ts). */

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
export const RECORD_PYTHON = `import contextlib, io, json, os
from tonearm._transport import Transport

def send(self, request):
    headers = {name.lower(): value for name, value in request.header_items()}
    body = json.loads(request.data) if request.data else None
    sent[name] = {"method": request.method, "url": request.full_url, "body": body, "headers": headers}
    return {"ok": True}

Transport._send = send
sent = {}
for name, code in json.load(open("samples.json")):
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, {})
print(json.dumps(sent))`
