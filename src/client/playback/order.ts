import type { Chapter, Loop, PlaybackOptions, Session, State } from './state.ts'

/** In which order tracks are played. Tracks are named by their place in the session: a playlist may hold one twice. */

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

type Options = Pick<PlaybackOptions, 'shuffle' | 'loop'>

/** The place that follows the one that plays, or the one before it. */
export const following = ({ order, index }: Pick<State, 'order' | 'index'>, { loop }: Options, step: 1 | -1 = 1) =>
  neighbour(order, index, step, loop)

/** The place of a track by its id or its number from 1; below zero when it is not there. */
export const placeOf = (session: Session | null, wanted: string | null) =>
  session?.tracks.findIndex(({ id }, place) => id === wanted || String(place + 1) === wanted) ?? -1

/** Whether a track is there, or none was asked for. */
export const has = (session: Session | null, wanted: string | null) => wanted === null || placeOf(session, wanted) >= 0

/** Takes another session's tracks; the track that plays may stand somewhere else in it. */
export function adopt(state: State, session: Session, { shuffle }: Options): Partial<State> {
  const id = state.session?.tracks[state.index]?.id
  const isMoved = id !== undefined && session.tracks[state.index]?.id !== id
  const index = isMoved ? Math.max(0, placeOf(session, id)) : state.index
  const { length } = session.tracks
  return { session, index, ...(state.order.length !== length && { order: playingOrder(length, shuffle, index) }) }
}

/** Goes to a track by its id or its number from 1, else to the one that can be played already, else to the first. */
export function goTo({ session }: State, wanted: string | null, { shuffle }: Options): Partial<State> {
  const asked = placeOf(session, wanted)
  const index = Math.max(0, asked >= 0 ? asked : placeOf(session, session?.first_track?.track_id ?? null))
  return { index, order: playingOrder(session?.tracks.length ?? 0, shuffle, index) }
}

/** The chapter at a time; below zero before the first. */
export const chapterAt = (chapters: readonly Chapter[], time: number) =>
  chapters.findLastIndex(({ start }) => start <= time + 0.05)

/** Where the next or the previous chapter begins; the present one's beginning first, when more than 3 seconds were played. */
export function chapterStep(chapters: readonly Chapter[], time: number, step: 1 | -1): number | undefined {
  const at = chapterAt(chapters, time)
  if (step === -1 && at >= 0 && time - chapters[at]!.start > 3) return chapters[at]!.start
  return chapters[at + step]?.start
}
