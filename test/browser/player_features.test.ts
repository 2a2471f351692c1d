import { describe, expect, test, vi } from 'vitest'

import { chapterAt, chapterStep, type Source } from '../../src/client/playback/state.ts'
import { failureAdvice, setupAdvice, valueAdvice } from '../../src/elements/player/advice.ts'
import { faultOf, isUnderstood, readHash, readSkip, shareLink } from '../../src/elements/player/attributes.ts'
import { type Commands, commandsOf, keyCommand, type Player } from '../../src/elements/player/commands.ts'
import { ListenerSettings } from '../../src/elements/player/listener_settings.ts'
import { partLink } from '../../src/elements/shared/part_link.ts'

/** Player features besides sound: memory, links, keys, chapters, and console advice for developers. */

const ID = '00000000-0000-4000-8000-000000000000'

describe('memory', () => {
  function memory(isOn = true) {
    const stored = new Map<string, string>()
    const storage = { getItem: (key: string) => stored.get(key) ?? null, setItem: stored.set.bind(stored) }
    return {
      stored,
      memory: new ListenerSettings(
        () => isOn,
        () => storage,
      ),
    }
  }
  const track = { id: 'a', duration: 3600 }

  test('keeps volume, speed and the position in long tracks', () => {
    const { memory: kept } = memory()
    kept.store({ volume: 0.4 })
    kept.store({ rate: 1.5 })
    kept.storePosition(track, 900, 3600)
    expect(kept.stored).toMatchObject({ volume: 0.4, rate: 1.5 })
    expect([kept.positionOf(track), kept.positionOf({ id: 'b', duration: 3600 })]).toEqual([900, 0])
  })
  test('drops the position of a finished track and never stores positions in short tracks', () => {
    const { memory: kept, stored } = memory()
    kept.storePosition({ id: 'short' }, 100, 200)
    expect(stored.size).toBe(0)
    kept.storePosition(track, 900, 3600)
    kept.storePosition(track, 3590, 3600)
    expect(kept.positionOf(track)).toBe(0)
    kept.storePosition(track, 10, 3600)
    expect(kept.stored.positions).toEqual({})
  })
  test('keeps the fifty newest positions', () => {
    const { memory: kept } = memory()
    for (let i = 0; i < 60; i++) kept.storePosition({ id: `t${i}` }, 100, 3600, i)
    expect(Object.keys(kept.stored.positions!)).toHaveLength(50)
    expect([kept.stored.positions!.t9, kept.stored.positions!.t59]).toEqual([undefined, [100, 59]])
  })
  test('can be turned off and works without storage', () => {
    const { memory: off, stored } = memory(false)
    off.store({ volume: 0.1 })
    expect([stored.size, off.stored]).toEqual([0, {}])
    const none = new ListenerSettings(
      () => true,
      () => {
        throw new Error('denied')
      },
    )
    none.store({ volume: 0.1 })
    expect(none.stored).toEqual({})
    const odd = new ListenerSettings(
      () => true,
      () => ({ getItem: () => 'null', setItem: () => {} }),
    )
    expect(odd.stored).toEqual({})
  })
})

describe('links', () => {
  test('specify the track and the start position', () => {
    expect(readHash('#t=1:30&track=2')).toEqual({ track: '2', position: 90, clip: null })
    expect(readHash('#t=75')).toEqual({ position: 75, clip: null })
    expect([readHash(''), readHash('#chapter')]).toEqual([{}, {}])
  })
  test.each([
    ['62,75', 62, 75],
    ['1:02,1:15', 62, 75],
    ['npt:0:01:02.5,75', 62.5, 75],
    ['62%2C75', 62, 75],
    [',75', 0, 75],
  ])('specify the part of a track: t=%s', (t, start, end) =>
    expect(readHash(`#track=2&t=${t}`)).toEqual({ track: '2', position: start, clip: { start, end } }),
  )
  test.each(['75,62', '62,62', '62,', '62,x', ','])('have no part without an end after its start: t=%s', (t) =>
    expect(readHash(`#t=${t}`)).toEqual({ position: Number.parseInt(t) || 0, clip: null }),
  )
  test('point to the page or the specified URL, with the track and a time', () => {
    const page = 'https://band.example/record?x=1#top'
    expect(shareLink(null, page, 1)).toBeNull()
    expect(shareLink('', page, null)).toBe('https://band.example/record?x=1')
    expect(shareLink('/listen', page, 3)).toBe('https://band.example/listen#track=3')
    expect(shareLink('none', page, 1)).toBeNull()
    const link = shareLink('', page, 2)!
    expect(partLink(link, 75, null)).toBe('https://band.example/record?x=1#track=2&t=75')
    expect(partLink(link, 62, 75.5)).toBe('https://band.example/record?x=1#track=2&t=62,75.5')
    expect(partLink(link, null, 75)).toBe('https://band.example/record?x=1#track=2&t=,75')
    expect(partLink(link, null, null)).toBe(link)
    const clip = { start: 62, end: 75.5 }
    expect(readHash(new URL(partLink(link, 62, 75.5)).hash)).toEqual({ track: '2', position: 62, clip })
  })
})

describe('chapters', () => {
  const chapters = [0, 60, 200].map((start) => ({ start, title: null }))
  test('are found by the playback time', () => {
    expect([0, 59, 60, 500].map((time) => chapterAt(chapters, time))).toEqual([0, 0, 1, 2])
    expect(chapterAt(chapters.slice(1), 10)).toBe(-1)
  })
  test('can be stepped through; stepping back first returns to the start of the current chapter', () => {
    expect(chapterStep(chapters, 61, 1)).toBe(200)
    expect(chapterStep(chapters, 300, 1)).toBeUndefined()
    expect([chapterStep(chapters, 61, -1), chapterStep(chapters, 70, -1)]).toEqual([0, 60])
    expect(chapterStep([], 10, 1)).toBeUndefined()
  })
})

describe('keys', () => {
  function press(key: string, state: Partial<Player> = {}) {
    const player = { currentTime: 50, duration: 100, volume: 0.5, muted: false, rate: 1, ...state } as Player
    player.seek = vi.fn<Player['seek']>()
    player.next = vi.fn<Player['next']>()
    player.previous = vi.fn<Player['previous']>()
    const controller = {
      toggle: vi.fn<() => void>(),
      skip: vi.fn<Commands['skip']>(),
      stepChapter: vi.fn<Commands['stepChapter']>(),
      showKeys: vi.fn<() => void>(),
      remember: vi.fn<Commands['remember']>(),
    }
    keyCommand(key, player, commandsOf(player, controller as unknown as Commands))?.()
    return { player, controller }
  }
  test('play and seek', () => {
    for (const key of [' ', 'k', 'K']) expect(press(key).controller.toggle, key).toHaveBeenCalledOnce()
    expect(press('j').controller.skip).toHaveBeenCalledWith(-1)
    expect(press('L').controller.skip).toHaveBeenCalledWith(1)
    expect(press('ArrowRight').player.seek).toHaveBeenCalledWith(55)
    expect(press('Home').player.seek).toHaveBeenCalledWith(0)
    expect(press('n').player.next).toHaveBeenCalledOnce()
    expect(press('p').player.previous).toHaveBeenCalledOnce()
    expect(press(']').controller.stepChapter).toHaveBeenCalledWith(1)
    expect(press('?').controller.showKeys).toHaveBeenCalledOnce()
  })
  test('change the volume in steps and store it', () => {
    const { player, controller } = press('ArrowUp', { muted: true })
    expect([player.volume, player.muted]).toEqual([0.55, false])
    expect(controller.remember).toHaveBeenCalledWith({ volume: 0.55 })
    expect(press('ArrowDown').player.volume).toBe(0.45)
    expect(press('m', { volume: 0 }).player.volume).toBe(1)
  })
  test('have no effect if no function is assigned to them', () => {
    for (const key of ['x', 'Enter', 'PageUp', 'Tab'])
      expect(keyCommand(key, {} as Player, {} as Commands), key).toBeUndefined()
  })
})

test('skip buttons use the configured seconds', () => {
  expect([readSkip(null), readSkip(''), readSkip('10 20'), readSkip('x')]).toEqual([
    [15, 30],
    [15, 30],
    [10, 20],
    [15, 30],
  ])
})

describe('advice for developers', () => {
  const source: Source = {
    baseUrl: 'https://audio.example/',
    playSessionId: null,
    apiKey: null,
    scope: null,
    resourceId: null,
    variants: [],
    isDownloadable: false,
    normalize: false,
    expiresIn: null,
  }
  test('detects an incorrect setup and explains the correct one', () => {
    expect([faultOf(source), faultOf({ ...source, playSessionId: ID })]).toEqual([null, null])
    expect(faultOf({ ...source, apiKey: 'k', scope: 'track', resourceId: ID })).toBeNull()
    const literal = { ...source, playSessionId: 'PLAY_SESSION_ID' }
    expect(faultOf(literal)).toBe('id')
    expect(setupAdvice('id', literal)).toMatch(/PLAY_SESSION_ID.*POST \/v1\/play_session/)
    expect(faultOf({ ...source, apiKey: 'k', scope: 'album', resourceId: ID })).toBe('scope')
    expect(faultOf({ ...source, apiKey: 'k' })).toBe('missing')
    expect(setupAdvice('missing', source)).toMatch(/scope.*missing/)
  })
  test('explains only the failures that the page can fix', () => {
    expect(failureAdvice('origin_not_allowed', source, 'https://band.example')).toMatch(
      /band\.example.*allowed_origins/,
    )
    expect(failureAdvice('not_found', source, '')).toMatch(/audio\.example.*base-url/)
    expect(failureAdvice('session_expired', source, '')).toBeNull()
  })
  test('reports values that are not recognized', () => {
    const odd = { theme: 'drak', layout: 'big', loop: 'once', accent: 'red', volume: '50%', rate: 'fast', skip: '15' }
    for (const [name, value] of Object.entries(odd)) expect(isUnderstood(name, value), name).toBe(false)
    const fine = {
      theme: 'dark',
      layout: 'compact',
      loop: '',
      accent: '#C0FFEE',
      volume: '0.5',
      rate: '1.25',
      skip: '10 30',
    }
    for (const [name, value] of Object.entries(fine)) expect(isUnderstood(name, value), name).toBe(true)
    expect([isUnderstood('theme', null), isUnderstood('track', 'x'), isUnderstood('volume', '.5')]).toEqual([
      true,
      true,
      true,
    ])
    expect(valueAdvice('theme', 'drak')).toContain('theme="drak"')
  })
})
