import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { packPython } from '../../scripts/pack/python.ts'
import { makeAudio } from '../support/audio.ts'
import { hasPython } from './has_python.ts'
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
  wheel = join(directory, (await packPython(directory, '0.0.0')).file)
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
    print(error.status, error.code)`
  const [invalid, ...others] = (await python('-c', program)).split('\n')
  expect(invalid).toMatch(/^400 \w+ \[.*'title'/)
  expect(others).toEqual(['404 not_found', '0 network'])
})

test('a refused upload is explained', async () => {
  const program = `${CLIENT}
collection = client.create_collection({"title": "Refused"})["collection_id"]
create = lambda **hints: client.create_track({"collection_id": collection, "file_name": "a.wav", **hints})["track_upload"]
for handle in create(file_size=9), create(content_type="audio/wav"):
    try:
        client.upload_file(handle, b"RIFF")
    except TonearmError as error:
        print(error.storage_code, error.message)
client.upload_file(create(content_type="audio/wav"), b"RIFF", content_type="audio/wav")`
  const lines = (await python('-c', program)).split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^SignatureDoesNotMatch .*: 4 bytes, type application\/octet-stream$/),
    expect.stringMatching(/^SignatureDoesNotMatch /),
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

test('a webhook is verified, and a changed one is rejected', async () => {
  const program = `import base64, hashlib, hmac, time
from tonearm import WebhookError, verify_webhook
secret, body, now = "${SECRET}", b'{"type": "track.ready"}', str(int(time.time()))
def sign(timestamp):
    key = base64.b64decode(secret[6:])
    digest = hmac.new(key, f"event-1.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {"Webhook-Id": "event-1", "webhook-timestamp": timestamp, "webhook-signature": "v1," + base64.b64encode(digest).decode()}
print(verify_webhook(body, sign(now), secret)["type"])
for changed, headers in [(body + b" ", sign(now)), (body, sign(str(int(now) - 301))), (body, {})]:
    try:
        print(verify_webhook(changed, headers, secret))
    except WebhookError:
        print("rejected")`
  expect(await python('-c', program)).toBe('track.ready\nrejected\nrejected\nrejected')
})
