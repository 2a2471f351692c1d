import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import { t } from '../base/text.ts'
import { nowPlaying, type Player, setPlayer, stopPlaying } from '../data/now_playing.ts'
import { useStore } from '../data/store.ts'
import { Button } from '../ui/controls/button.tsx'

/** The player at the bottom of every page. It continues when the page changes. */
export function Dock() {
  const now = useStore(nowPlaying)
  const player = useRef<Player>(null)
  const dock = useRef<HTMLElement>(null)

  useEffect(() => {
    const element = player.current
    if (!element) return
    setPlayer(element)
    const ended = new AbortController()
    const on = (name: string, change: (event: Event) => object) =>
      element.addEventListener(
        `tonearm-${name}`,
        (event) => {
          const before = nowPlaying.get()
          if (before) nowPlaying.set({ ...before, ...change(event) })
        },
        { signal: ended.signal },
      )
    on('play', () => ({ playing: true }))
    on('pause', () => ({ playing: false }))
    on('trackchange', (event) => {
      const { track } = (event as CustomEvent<{ track: { id: string } | null }>).detail
      return track ? { track_id: track.id } : {}
    })
    return () => {
      ended.abort()
      setPlayer(null)
    }
  }, [now?.request])

  const isShown = now !== null
  useLayoutEffect(() => {
    const element = dock.current
    if (!element) return undefined
    const { style } = document.documentElement
    const resized = new ResizeObserver(() => style.setProperty('--dock', `${element.offsetHeight}px`))
    resized.observe(element)
    return () => {
      resized.disconnect()
      style.removeProperty('--dock')
    }
  }, [isShown])

  if (!now) return null
  return (
    <aside ref={dock} class="dock" aria-label={t('Now playing')}>
      <tonearm-player
        key={now.request}
        ref={player}
        play-session-id={now.play_session_id}
        track={now.track_id}
        start={now.start}
        layout="compact"
        autoplay
        no-statistics
      />
      <Button kind="quiet" icon="close" label={t('Close the player')} onClick={stopPlaying} />
    </aside>
  )
}
