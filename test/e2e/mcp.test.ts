import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { bytes, settle } from './steps.ts'

/** Tests `POST /mcp` with the official client of the Model Context Protocol (docs/assistants.md). */

let stack: Shared
beforeAll(async () => {
  stack = await joinStack()
})
afterAll(() => stack?.dispose())

/** Connects a client that negotiates its protocol version in this mode. */
async function connect(mode: 'auto' | 'legacy') {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', stack.base_url), {
    requestInit: { headers: { authorization: `Bearer ${stack.api_key}` } },
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const run = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    const texts = (content as { text: string }[]).map(({ text }) => text)
    expect(isError, texts.join('\n')).toBeFalsy()
    return texts
  }
  /** Calls an operation, and returns the body of its response. */
  const operate = async (operation: string, input: object = {}) =>
    JSON.parse((await run('call_operation', { operation, ...input }))[1]!) as Record<string, unknown>
  return { client, run, operate }
}

async function serveSong(): Promise<string> {
  const audio = bytes(await makeAudio('mp3', { seconds: 3 }))
  const server = createServer((_, response) => response.writeHead(200, { 'content-length': audio.length }).end(audio))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/song.mp3`
}

test.each(['auto', 'legacy'] as const)('the official client lists, describes, uploads and plays (%s)', async (mode) => {
  const { client, run, operate } = await connect(mode)
  expect(client.getServerVersion()).toMatchObject({ name: 'tonearm' })
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'search_operations',
    'describe_operation',
    'call_operation',
    'upload_from_url',
    'read_guide',
  ])
  expect((await run('search_operations', { query: 'create a collection' }))[0]).toMatch(/^createCollection: POST /)
  expect((await run('describe_operation', { operation: 'createCollection' }))[0]).toContain('`POST /v1/collection`')
  expect((await run('describe_operation', { operation: 'createPlaySession' }))[0]).toContain('playlist_id')
  expect((await run('read_guide'))[0]).toContain('/docs/upload.md')
  expect((await run('read_guide', { guide: '/docs/api/objects#TrackChange' }))[0]).toMatch(/^## TrackChange/)
  const [first, more] = await run('read_guide', { guide: 'architecture' })
  const offset = Number(/offset: (\d+)/.exec(more!)![1])
  const [second] = await run('read_guide', { guide: 'architecture', offset })
  expect(first!.length + second!.length).toBeGreaterThan(offset)

  const { collection_id } = await operate('createCollection', { body: { title: 'Assistant' } })
  const source_url = await serveSong()
  const [, created] = await run('upload_from_url', { source_url, collection_id, file_name: 'song.mp3' })
  const { track_id } = JSON.parse(created!) as { track_id: string }
  await settle(createClient({ base_url: stack.base_url, api_key: stack.api_key }), track_id)
  const { play_session_id } = await operate('createPlaySession', { path: { scope: 'track' }, body: { track_id } })
  const { variants } = await operate('playTrack', { path: { play_session_id, play_track_id: track_id } })
  expect((await fetch((variants as { url: string }[])[0]!.url)).status).toBe(200)

  const refused = await client.callTool({
    name: 'call_operation',
    arguments: { operation: 'deleteTrack', path: { track_id } },
  })
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('confirm: true') }] })
  await operate('deleteTrack', { path: { track_id }, confirm: true })
})
