import { useState } from 'preact/hooks'

import type { Failure, Listed } from '../api.ts'
import { useList } from '../data/list.ts'
import { useTracks } from '../data/tracks.ts'
import { isPlayable } from '../data/views.ts'
import { clock, explain, nameOf, plural } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { Cancel, Dialog, DISCARD } from '../ui/dialog.tsx'
import { Check, SelectField, TextField } from '../ui/field.tsx'
import { Loading, Message, Problem } from '../ui/states.tsx'

interface Properties {
  /** Resolves to the failure, if there is one. */
  onChoose: (track_ids: string[]) => Promise<Failure | undefined>
  onClose: () => void
}

/** A dialog that chooses tracks from one or more collections. */
export function ChooseTracks({ onChoose, onClose }: Properties) {
  const { entries, loading, problem } = useList('/v1/collection', ({ collections }) => collections)
  const [collection_id, setCollection] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [failure, setFailure] = useState<Failure>()
  const current = collection_id || entries[0]?.id
  return (
    <Dialog title="Add tracks" asks={chosen.length > 0 && DISCARD} onClose={onClose} wide>
      {loading && <Loading />}
      {problem && <Problem failure={problem} />}
      {!loading && !problem && !current && <p class="soft">There is no collection yet to choose tracks from.</p>}
      {current && (
        <>
          <SelectField
            label="Collection"
            value={current}
            options={entries.map(({ id, title }) => [id, title] as const)}
            onChange={setCollection}
          />
          <Choices key={current} collection_id={current} chosen={chosen} onChange={setChosen} />
        </>
      )}
      <Message>{failure && explain(failure)}</Message>
      <div class="actions end">
        <Cancel />
        <Button
          kind="primary"
          disabled={chosen.length === 0}
          onClick={() => onChoose([...chosen]).then((refused) => setFailure(refused))}
        >
          {chosen.length === 0 ? 'Add' : `Add ${plural(chosen.length, 'track')}`}
        </Button>
      </div>
    </Dialog>
  )
}

interface ChoicesProperties {
  collection_id: string
  chosen: readonly string[]
  onChange: (chosen: readonly string[]) => void
}

function Choices({ collection_id, chosen, onChange }: ChoicesProperties) {
  const { tracks, loading, problem } = useTracks(collection_id)
  const [words, setWords] = useState('')
  const matches = (track: Listed) => `${nameOf(track)} ${track.file_name}`.toLowerCase().includes(words.toLowerCase())
  if (loading) return <Loading />
  if (problem) return <Problem failure={problem} />
  const shown = tracks.filter((track) => isPlayable(track) && matches(track))
  return (
    <>
      {tracks.length > 8 && <TextField label="Find" value={words} onInput={setWords} />}
      <ul class="choices checks">
        {shown.map((track) => (
          <li key={track.id}>
            <Check
              label={
                <>
                  <span>{nameOf(track)}</span> <span class="soft">{clock(track.duration)}</span>
                </>
              }
              checked={chosen.includes(track.id)}
              onChange={(wanted) =>
                onChange(wanted ? [...chosen, track.id] : chosen.filter((track_id) => track_id !== track.id))
              }
            />
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="soft">No track that can be played.</p>}
    </>
  )
}
