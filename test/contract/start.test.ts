import { expect, it } from 'vitest'

import { startChild } from '../../scripts/shared/child_process.ts'

/** How `npm start` locks the data on this machine and keeps it private. */

it('the output of a child process contains no secrets, neither the lines that are printed nor those for an error message', async () => {
  const lines = [
    ['POST /v1/cover_upload/SECRET 200 OK', 'POST /v1/cover_upload/… 200 OK'],
    ['GET /s/SECRET 404 Not Found', 'GET /s/… 404 Not Found'],
    ['POST /s/SECRET/zip 303 See Other', 'POST /s/… 303 See Other'],
    ['GET /embed/s/SECRET?theme=dark 500', 'GET /embed/…?… 500'],
    ['GET /embed/SECRET 410 Gone', 'GET /embed/… 410 Gone'],
    ['GET /zip/SECRET?variant=original 409', 'GET /zip/…?… 409'],
    ['GET /v1/play/SECRET/SECRET/mp3-128/download 409', 'GET /v1/play/… 409'],
    ['GET /v1/play_session/SECRET 404', 'GET /v1/play_session/… 404'],
    ['POST /v1/play_session/track 201 Created', 'POST /v1/play_session/track 201 Created'],
    ['POST /v1/upload/SECRET/track 201', 'POST /v1/upload/… 201'],
    ['GET /v1/upload_session/SECRET 404', 'GET /v1/upload_session/… 404'],
    ['PUT /cdn-cgi/local/r2/s3/a/b?X-Amz-Signature=SECRET 403', 'PUT /cdn-cgi/local/r2/s3/a/b?… 403'],
    ['GET /oembed?url=https%3A%2F%2Fa.example%2Fs%2FSECRET 404', 'GET /oembed?… 404'],
    ['{"url":"http://localhost:8787/s/SECRET?a","id":1}', '{"url":"http://localhost:8787/s/…?…","id":1}'],
    ['the key ta_sk_SECRET.1.SECRET was refused', 'the key ta_sk_… was refused'],
    ['POST /v1/track/0198a1b2/upload 409', 'POST /v1/track/0198a1b2/upload 409'],
    ['at /home/s/elsewhere.ts:1', 'at /home/s/elsewhere.ts:1'],
  ]
  const printed: string[] = []
  const child = startChild({
    command: [process.execPath, '-e', `console.log(${JSON.stringify(lines.map(([line]) => line).join('\n'))})`],
    env: process.env,
    onLine: (line) => printed.push(line),
  })
  await child.closed
  expect(printed).toEqual(lines.map(([, shown]) => shown))
  expect(child.tail).toEqual(printed)
})
