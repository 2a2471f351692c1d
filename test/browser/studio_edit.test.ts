import { beforeEach, expect, test, vi } from 'vitest'

import type { Failure } from '../../src/client/index.ts'

/** Tests the editing of a text in place without a browser. */

const stored = new Map<string, string>()
vi.stubGlobal('sessionStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
})
beforeEach(() => stored.clear())

const failure = (status: number, code: Failure['code']): Failure => ({ ok: false, code, message: 'no', status })

/** Opens a page with one text. A page that is opened later has the session storage of the earlier ones. */
async function aPage(value: string, options: { isRequired?: boolean } = {}) {
  vi.resetModules()
  const { Edit } = await import('../../src/studio/ui/edit/edit.ts')
  const sent: { text: string; end: (failed?: Failure) => void }[] = []
  const edit = new Edit(value, {
    key: 'title',
    ...options,
    save: (text) => new Promise((resolve) => sent.push({ text, end: resolve })),
  })
  edit.resume()
  await settled()
  const write = (text: string) => {
    edit.begin()
    edit.type(text)
  }
  return { edit, sent, write, texts: () => sent.map(({ text }) => text) }
}
/** Waits for the promises that are pending. */
const settled = () => new Promise((resolve) => setTimeout(resolve))

test('a text is saved without the spaces around it, and shown while it is sent', async () => {
  const { edit, sent, write } = await aPage('Old')
  write('  New ')
  void edit.commit()
  await settled()
  expect([edit.state, edit.shown, sent[0]?.text]).toEqual(['saving', 'New', 'New'])
  edit.value = 'New'
  sent[0]!.end()
  await settled()
  expect([edit.state, edit.shown, stored.get('tonearm.drafts')]).toEqual(['saved', 'New', '[]'])
})

test('nothing is sent for a text that was canceled, did not change, or is missing although required', async () => {
  const { edit, write, texts } = await aPage('Old', { isRequired: true })
  write('New')
  edit.cancel()
  expect(edit.shown).toBe('Old')
  write('Old ')
  await edit.commit()
  expect(edit.state).toBe('shown')
  write(' ')
  await edit.commit()
  expect([edit.state, edit.problem]).toEqual(['editing', 'This must not be empty.'])
  edit.flush()
  expect(texts()).toEqual([])
})

test('a text that could not be sent stays, and one that was rejected can be corrected', async () => {
  const { edit, sent, write } = await aPage('Old')
  write('New')
  void edit.commit()
  await settled()
  sent[0]!.end(failure(0, 'network'))
  await settled()
  expect([edit.state, edit.shown, edit.problem]).toEqual(['failed', 'New', 'No.'])
  void edit.send()
  await settled()
  sent[1]!.end(failure(400, 'invalid_request'))
  await settled()
  expect([edit.state, edit.text, edit.problem]).toEqual(['editing', 'New', 'No.'])
})

test('texts are sent one after the other, and a late failure does not replace a newer text', async () => {
  const { edit, sent, write, texts } = await aPage('Old')
  write('First')
  void edit.commit()
  await settled()
  write('Second')
  void edit.commit()
  await settled()
  expect(texts()).toEqual(['First'])
  sent[0]!.end(failure(400, 'invalid_request'))
  await settled()
  expect([texts(), edit.state, edit.shown]).toEqual([['First', 'Second'], 'saving', 'Second'])
})

test('a draft is sent by the next page, unless it has arrived or someone else has changed the value', async () => {
  const first = await aPage('Old')
  first.write('New')
  first.edit.flush()
  expect(first.texts()).toEqual(['New'])
  const next = await aPage('Old')
  expect([next.texts(), next.edit.shown]).toEqual([['New'], 'New'])
  const changed = await aPage('Theirs')
  expect([changed.texts(), changed.edit.state, changed.edit.text]).toEqual([[], 'conflict', 'New'])
  const arrived = await aPage('New')
  expect([arrived.texts(), arrived.edit.state, stored.get('tonearm.drafts')]).toEqual([[], 'shown', '[]'])
})

test('of two texts, the user can take either', async () => {
  for (const wanted of ['mine', 'theirs']) {
    const { edit, sent, write, texts } = await aPage('Old')
    write('Mine')
    void edit.commit()
    await settled()
    edit.value = 'Theirs'
    sent[0]!.end(failure(412, 'version_mismatch'))
    await settled()
    expect([edit.state, edit.text, edit.value]).toEqual(['conflict', 'Mine', 'Theirs'])
    if (wanted === 'mine') void edit.send()
    else edit.cancel()
    await settled()
    expect([edit.shown, texts().length]).toEqual(wanted === 'mine' ? ['Mine', 2] : ['Theirs', 1])
    edit.cancel()
  }
})
