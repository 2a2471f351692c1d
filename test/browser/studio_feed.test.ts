import { expect, test } from 'vitest'

import { feedDraft, feedSettings } from '../../src/studio/features/sharing/feed.ts'

/** The podcast feed in the share dialog of the studio. */

test('a feed is sent as a whole, and keeps the settings that the form does not have', () => {
  const feed = feedSettings({ ...feedDraft(null), author: ' Ana ', block: true }, null)
  expect(feed).toEqual({
    author: 'Ana',
    email: null,
    language: null,
    category: null,
    link: null,
    copyright: null,
    type: 'episodic',
    explicit: false,
    block: true,
    locked: true,
    medium: 'podcast',
  })
  const existing = { ...feed, locked: false, medium: 'music' } as const
  expect(feedSettings(feedDraft(existing), existing)).toEqual(existing)
  expect(feedSettings({ ...feedDraft(existing), author: '' }, existing)).toEqual({ ...existing, author: null })
})
