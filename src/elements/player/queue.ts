import type { Session, SessionTrack } from './service.ts'

/** In which order tracks are played. Tracks are named by their place in the session: a playlist may hold one twice. */

export type Loop = 'none' | 'all' | 'one'

/** `loop` as people write it: an empty attribute or `all` repeats everything, `one` the track. */
export const loopOf = (value: string | null): Loop =>
  value === null || value === 'none' ? 'none' : value === 'one' ? 'one' : 'all'

/** The places in playing order; shuffled, the one that plays now stands first. */
export function playingOrder(count: number, shuffle: boolean, current: number, random = Math.random): number[] {
  const places = Array.from({ length: count }, (_, i) => i)
  if (!shuffle) return places
  const rest = places.filter((place) => place !== current)
  // Fisher and Yates.
  for (let i = rest.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    ;[rest[i], rest[other]] = [rest[other]!, rest[i]!]
  }
  return current < count ? [current, ...rest] : rest
}

/** The place after or before another, or undefined at the end. */
export function neighbour(order: readonly number[], current: number, step: 1 | -1, loop: Loop): number | undefined {
  const at = order.indexOf(current)
  if (at < 0) return order[0]
  const next = at + step
  if (loop === 'all' && order.length > 0) return order[(next + order.length) % order.length]
  return order[next]
}

export type Queue = ReturnType<typeof createQueue>

interface Place {
  session: Session | null
  place: number
}

/** Where the player is in its session, and what follows. */
export function createQueue(state: Place, wishes: { shuffle: boolean; loop: Loop }) {
  let order: number[] = []
  const track = (place = state.place): SessionTrack | undefined => state.session?.tracks[place]
  const find = (test: (track: SessionTrack, place: number) => boolean) => state.session?.tracks.findIndex(test) ?? -1

  /** The place of a track by its id or its number from 1; below zero when it is not there. */
  const placeOf = (wanted: string | null) => find((t, place) => t.id === wanted || String(place + 1) === wanted)

  function reorder(): void {
    order = playingOrder(state.session?.tracks.length ?? 0, wishes.shuffle, state.place)
  }

  return {
    track,
    reorder,
    length: () => order.length,
    following: (step: 1 | -1 = 1) => neighbour(order, state.place, step, wishes.loop),
    /** Takes another session's tracks; the track that plays may stand somewhere else in it. */
    adopt(session: Session) {
      const id = track()?.id
      state.session = session
      if (id !== undefined && track()?.id !== id)
        state.place = Math.max(
          0,
          find((t) => t.id === id),
        )
      if (order.length !== session.tracks.length) reorder()
    },
    /** Whether a track is there, or none was asked for. */
    has: (wanted: string | null) => wanted === null || placeOf(wanted) >= 0,
    /** Goes to a track by its id or its number from 1, else to the one that can be played already, else to the first. */
    goTo(wanted: string | null, playable: string | undefined) {
      const asked = placeOf(wanted)
      state.place = Math.max(0, asked >= 0 ? asked : find((t) => t.id === playable))
      reorder()
    },
  }
}
