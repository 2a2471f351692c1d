import { useRef, useState } from 'preact/hooks'

import { partLink } from '../../../elements/shared/part_link.ts'
import { readTime, timeText } from '../../base/clock.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import type { Player } from '../../data/now_playing.ts'
import { useQuery } from '../../data/query.ts'
import { sessionFor } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Problem } from '../../ui/page/states.tsx'
import type { Shared } from './open_share.ts'

/** A part of a track as it is typed. `track` is the track's number in the list; null if there is only one track. */
interface Part {
  track: number | null
  start: string
  end: string
}

const trackOf = ({ track, tracks }: Player) => (track && tracks.length > 1 ? tracks.indexOf(track) + 1 : null)
const timeOf = ({ currentTime }: Player) => timeText(Math.floor(currentTime * 10) / 10)

/** Makes a link to a part of a track, whose start and end are those at which a player is. */
export function PartOfTrack({ shared: { scope, id }, url }: { shared: Shared; url: string }) {
  const client = useClient()
  const player = useRef<Player>(null)
  const [{ track, start, end }, setPart] = useState<Part>({ track: null, start: '', end: '' })
  const { answer, problem, reload } = useQuery({
    key: ['preview session', scope, id],
    load: () => sessionFor(client, scope, id),
  })
  const [from, until] = [start, end].map((text) => (text.trim() ? readTime(text) : undefined))
  const isEmpty = from === undefined && until === undefined
  const fault = {
    start: from === null ? t('Enter a time such as 1:30.') : undefined,
    end: until === null || (until ?? Infinity) <= (from ?? 0) ? t('Enter a time after the start.') : undefined,
  }

  function change(changes: Partial<Part>) {
    const now = player.current && trackOf(player.current)
    const others = now === track ? { start, end } : { start: '', end: '' }
    setPart({ ...others, ...changes, track: now })
  }
  function listen() {
    if (!player.current) return
    player.current.clip = { start: from ?? 0, end: until ?? player.current.duration }
    void player.current.play()
  }
  const hash = track === null ? '' : `#track=${track}`
  return (
    <>
      <p class="soft">{t('Play it, and choose where the link starts and ends.')}</p>
      {problem && <Problem failure={problem} retry={reload} />}
      {answer && (
        <tonearm-player
          ref={player}
          play-session-id={answer.play_session_id}
          layout="compact"
          no-memory
          no-statistics
        />
      )}
      <div class="part-times">
        <TextField
          label={t('Start')}
          value={start}
          placeholder="0:00"
          error={fault.start}
          onInput={(text) => change({ start: text })}
        />
        <Button small onClick={() => player.current && change({ start: timeOf(player.current) })}>
          {t('Start here')}
        </Button>
        <TextField
          label={t('End')}
          value={end}
          placeholder="0:30"
          error={fault.end}
          onInput={(text) => change({ end: text })}
        />
        <Button small onClick={() => player.current && change({ end: timeOf(player.current) })}>
          {t('End here')}
        </Button>
      </div>
      {!isEmpty && !fault.start && !fault.end && (
        <>
          <Copyable label={t('Link to this part')} value={partLink(url + hash, from ?? null, until ?? null)} />
          <div class="actions">
            <Button small onClick={listen}>
              {t('Listen to it')}
            </Button>
          </div>
        </>
      )}
    </>
  )
}
