import type { State, Told } from './state.ts'

/** Changes the state, and tells who wants to hear of it. */
export function createAnnouncer(state: State, told: Told) {
  /** An event whose detail is the track that is shown. */
  const tell = (name: string, more: object = {}) =>
    told.onEvent(name, { track: state.session?.tracks[state.place] ?? null, index: state.place, ...more })

  function set(change: Partial<State>): void {
    Object.assign(state, change)
    told.onChange()
  }

  function setPlaying(playing: boolean): void {
    if (state.playing === playing) return
    set({ playing })
    tell(playing ? 'play' : 'pause')
  }

  return { tell, set, setPlaying }
}

export type Announcer = ReturnType<typeof createAnnouncer>
