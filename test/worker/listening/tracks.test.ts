import { expect, it, onTestFinished, vi } from 'vitest'

import { createTracks } from '../../../src/pipeline/listening/tracks.ts'

it('a known track of another collection that was deleted is read at most once a minute', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const rows = [
    { id: 'organization', collection: '', duration: 0 },
    { id: 'track', collection: 'before', duration: 200 },
  ]
  let reads = 0
  const all = async () => ({ results: rows.slice(0, ++reads === 1 ? 2 : 1) })
  const tracks = createTracks({ prepare: () => ({ bind: () => ({ all }) }) } as never, 'organization')
  const find = () => tracks.find(['track'], 'after')
  await find()
  vi.setSystemTime(Date.now() + 61_000)
  for (let times = 0; times < 3; times++) expect((await find())!.get('track')!.collection).toBe('before')
  expect(reads).toBe(2)
})
