import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { zip } from '../../scripts/pack/archive.ts'
import { makePython } from '../../scripts/pack/python.ts'
import { makeAudio } from '../support/audio.ts'
import { hasPython } from './has_python.ts'
import { servedPackages } from './packages_setup.ts'
import { SECRET } from './receivers.ts'
import { joinStack, type Shared } from './shared_stack.ts'

/** Tests the package for Python as a wheel, with the machine's Python. */

const EXAMPLE = join(import.meta.dirname, '../../examples/python/upload.py')
const CLIENT = `import asyncio, os
from tonearm import AsyncTonearm, Tonearm, TonearmError
client = Tonearm(os.environ["TONEARM_URL"], os.environ["TONEARM_KEY"])
`

let stack: Shared
let directory: string
let wheel: string

beforeAll(async () => {
  if (!hasPython) return
  stack = await joinStack()
  directory = await mkdtemp(join(tmpdir(), 'tonearm-python-'))
  wheel = join(directory, 'tonearm-0.0.0-py3-none-any.whl')
  await writeFile(wheel, await zip(await makePython('0.0.0')))
})
afterAll(async () => {
  await stack?.dispose()
  if (directory) await rm(directory, { recursive: true })
})
beforeEach(({ skip }) => skip(!hasPython, 'there is no Python 3.11 or later on the PATH'))

/** Runs Python with the wheel on its path, and returns the output. */
async function python(...args: string[]) {
  const env = { ...process.env, PYTHONPATH: wheel, TONEARM_URL: stack.base_url, TONEARM_KEY: stack.api_key }
  const { stdout } = await promisify(execFile)('python3', args, { env })
  return stdout.trim()
}

test('the example uploads a file and prints a link to a page that plays it', async () => {
  const file = join(directory, 'song.wav')
  await writeFile(file, await makeAudio('wav', { seconds: 2, channels: 1 }))
  const [length, url] = (await python(EXAMPLE, file)).split(': ')
  expect(length).toBe('2.0 s')
  expect(await (await fetch(url!)).text()).toContain('<tonearm-player')
})

test('a rejected request raises the code and the fields', async () => {
  const program = `${CLIENT}
try:
    client.create_collection({"title": "", "nothing": "x"})
except TonearmError as error:
    print(error.status, error.code, [field["path"] for field in error.errors])
try:
    client.get_track("0197a3c0-5e00-7000-8000-000000000001")
except TonearmError as error:
    print(error.status, error.code)
try:
    Tonearm("http://127.0.0.1:9").list_limits()
except TonearmError as error:
    print(error.status, error.code, error.message)
try:
    Tonearm(os.environ["TONEARM_URL"] + "/docs?").list_limits()
except TonearmError as error:
    print(error.status, error.code, error.message)
try:
    client.create_webhook_endpoint({"address": "https://a.example"})
except TonearmError as error:
    print(error)`
  const [invalid, ...others] = (await python('-c', program)).split('\n')
  expect(invalid).toMatch(/^400 \w+ \[.*'title'/)
  expect(others).toEqual([
    '404 not_found',
    expect.stringMatching(/^0 network http:\/\/127\.0\.0\.1:9 cannot be reached: /),
    '200 not_json The service sent no JSON (200)',
    'invalid_request (400): url: is required; address: is not a known field',
  ])
})

test.for([
  ['a response that is cut off raises `network`, after two retries', 'list_limits()', 200, '{', '0 network 3'],
  ['an error that is cut off raises `network` too', 'list_limits()', 500, '{', '500 network 3'],
  ['an error whose JSON is not an object raises `network`', 'list_limits()', 502, '"Bad gateway"', '502 network 3'],
  [
    'an upload whose error is cut off raises `upload_refused`',
    'upload_file(handle, b"")',
    500,
    '<',
    '500 upload_refused 1',
  ],
] as const)('%s', async ([, call, status, text, expected]) => {
  const program = `${CLIENT}
import http.server, threading
class Server(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_GET(self):
        Server.count += 1
        text = b'${text}'
        self.send_response(${status})
        self.send_header("Content-Length", str(max(2, len(text))))
        self.end_headers()
        self.wfile.write(text)
    do_PUT = do_GET
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
handle = {"upload_url": url, "method": "PUT"}
try:
    Tonearm(url).${call}
except TonearmError as error:
    print(error.status, error.code, Server.count)`
  expect(await python('-c', program)).toBe(expected)
})

test('a signed play session plays, and a secret of another kind is refused', async () => {
  const program = `${CLIENT}
from tonearm import sign_play_session
collection = client.create_collection({"title": "Signed"})["collection_id"]
secret = client.create_api_key({"title": "App", "type": "signing"})["secret"]
token = sign_play_session(secret, scope="collection", id=collection, expires_in=90, variants=["mp3-128"], is_downloadable=False, listener="é")
session = client.play_session(token)
print(session["play_session_id"] == token, session["play_session"]["variants"])
try:
    sign_play_session(os.environ["TONEARM_KEY"], scope="collection", id=collection)
except ValueError as error:
    print(error)`
  expect((await python('-c', program)).split('\n')).toEqual([
    "True ['mp3-128']",
    'The secret must be that of a signing key, ta_sg_…',
  ])
})

test('a refused upload is explained', async () => {
  const program = `${CLIENT}
collection = client.create_collection({"title": "Refused"})["collection_id"]
create = lambda **hints: client.create_track({"collection_id": collection, "file_name": "a.wav", **hints})["track_upload"]
for handle in create(file_size=9), create(content_type="audio/wav"):
    try:
        client.upload_file(handle, b"RIFF")
    except TonearmError as error:
        print(error.code, error.storage_code, error.message)
client.upload_file(create(content_type="audio/wav"), b"RIFF", content_type="audio/wav")`
  const lines = (await python('-c', program)).split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^upload_refused SignatureDoesNotMatch .*: 4 bytes, type application\/octet-stream$/),
    expect.stringMatching(/^upload_refused SignatureDoesNotMatch /),
  ])
})

test('lists, and the client for asyncio', async () => {
  const program = `${CLIENT}
for number in range(3):
    client.create_collection({"title": f"Page {number}"})
print(sum(len(page["collections"]) for page in client.pages(client.list_collections, q="page", sort="title")))
async def read():
    other = AsyncTonearm(os.environ["TONEARM_URL"], os.environ["TONEARM_KEY"])
    found, usage = await asyncio.gather(other.list_collections(q="page", limit=1), other.get_usage())
    print(found["count"], len(found["collections"]), usage["ok"])
asyncio.run(read())`
  expect(await python('-c', program)).toBe('3\n3 1 True')
})

test('a listening report, whose response has no body, with both clients, and one that is refused', async () => {
  const report = (visit: string) =>
    `{"visit": "${visit}", "sequence": 1, "age": 1, "first": 0, "listens": [{"track": track, "ranges": [[0, 1]]}]}`
  const program = `${CLIENT}
track = client.list_tracks(status=["ready"])["tracks"][0]["id"]
token = client.create_track_play_session({"track_id": track})["heard_token"]
print(client.report_heard(token, ${report('0000000000000001')}))
async def send():
    other = AsyncTonearm(os.environ["TONEARM_URL"], os.environ["TONEARM_KEY"])
    print(await other.report_heard(token, ${report('0000000000000002')}))
asyncio.run(send())
try:
    client.report_heard(token, ${report('0000000000000003').replace('[0, 1]', '[0, 9999]')})
except TonearmError as error:
    print(error.status, error.reason)`
  expect(await python('-c', program)).toBe("{'ok': True}\n{'ok': True}\n400 ranges")
})

const WEBHOOK = `import base64, hashlib, hmac, time
from email.message import Message
from tonearm import WebhookError, verify_webhook
secret, body, now = "${SECRET}", b'{"type": "track.ready"}', int(time.time())
def sign(body=body, timestamp=now, key=base64.b64decode(secret[6:])):
    digest = hmac.new(key, f"event-1.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {"Webhook-Id": "event-1", "webhook-timestamp": str(timestamp), "WEBHOOK-SIGNATURE": "v1," + base64.b64encode(digest).decode()}
def verdict(body=body, headers=None, secret=secret):
    try:
        return verify_webhook(body, sign(body) if headers is None else headers, secret)["type"]
    except WebhookError as error:
        return error.code
`

test('a webhook is verified, and one that is changed, too old or too new is rejected with a code', async () => {
  const program = `${WEBHOOK}
message = Message()
for name, value in sign().items():
    message[name] = value
print(verdict(), verdict(headers=message), verdict(body.decode(), sign()), verdict(bytearray(body)), verdict(secret=secret[6:]))
print(verdict(body + b" ", sign()), verdict("\\ud800", sign()), verdict(headers={**sign(), "WEBHOOK-SIGNATURE": "v1,\\ud800"}))
print(verdict(headers=sign(timestamp=now - 310)), verdict(headers=sign(timestamp=now + 310)))
print(*[verdict(headers={**sign(), "webhook-timestamp": text}) for text in ["soon", "-1", "1.5", "²", "9" * 5000]])
print(*[verdict(headers=headers) for headers in [{}, {**sign(), "Webhook-Id": ""}, {**sign(), "Webhook-Id": None}, 7, [1]]])
print(*[verdict(parsed, sign()) for parsed in [None, {"type": "track.ready"}, 7]])
print(*[verdict(signed) for signed in [b"", b"no JSON", b"[]", b"7", b"\\xff", b"[" * 100_000, b"9" * 5000]])`
  const all = (code: string, count: number) => Array(count).fill(code).join(' ')
  expect((await python('-c', program)).split('\n')).toEqual([
    all('track.ready', 5),
    all('signature_mismatch', 3),
    'timestamp_too_old timestamp_too_new',
    all('timestamp_invalid', 5),
    all('headers_missing', 5),
    all('body_not_raw', 3),
    all('body_invalid', 7),
  ])
})

test('a webhook is rejected if the secret is missing, cut off or not Base64, even if it is signed with that secret', async () => {
  const program = `${WEBHOOK}
short = bytes(23)
print(verdict(headers=sign(key=b""), secret=""), verdict(headers=sign(key=b""), secret="whsec_!!!!"))
print(verdict(headers=sign(key=short), secret="whsec_" + base64.b64encode(short).decode()))
print(*[verdict(secret=wrong) for wrong in ["whsec_", "whsec_YQ==", secret[:-1], secret + "=", secret + "!", secret + "\\n", "é", None, 7]])`
  expect(new Set((await python('-c', program)).split(/\s/))).toEqual(new Set(['secret_invalid']))
})

test('pip installs the wheel from the service', async ({ skip }) => {
  const run = (args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)('python3', args, { env: { ...process.env, ...env } })
  const hasPip = await run(['-m', 'pip', '--version']).then(Boolean, () => false)
  skip(!hasPip, 'there is no pip')
  const url = (await servedPackages(stack.base_url)).find(({ name }) => name === 'tonearm')!.url
  const target = join(directory, 'site-packages')
  const options = ['--no-index', '--no-cache-dir', '--disable-pip-version-check', '--quiet', '--target', target]
  await run(['-m', 'pip', 'install', ...options, stack.base_url + url])
  const program = 'import tonearm; print(tonearm.__file__, tonearm.Tonearm.create_track.__name__)'
  const { stdout } = await run(['-c', program], { PYTHONPATH: target })
  expect(stdout).toBe(`${join(target, 'tonearm/__init__.py')} create_track\n`)
})
