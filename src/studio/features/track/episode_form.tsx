import { useState } from 'preact/hooks'

import { MAX_EPISODE_TEXT } from '../../../contract/facts.ts'
import type { Failure, Track } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field, NumberField } from '../../ui/controls/field.tsx'
import { Fold } from '../../ui/controls/fold.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Message } from '../../ui/page/states.tsx'
import { localTime } from '../sharing/link.ts'

type Episode = NonNullable<Track['episode']>

/** An episode as the user edits it. */
interface Draft {
  season: string
  number: string
  type: Episode['type']
  explicit: '' | 'true' | 'false'
  description: string
  /** The local time of publication, as `datetime-local` fields have it; empty for none. */
  published_at: string
}

const draftOf = (episode: Track['episode']): Draft => ({
  season: String(episode?.season ?? ''),
  number: String(episode?.number ?? ''),
  type: episode?.type ?? 'full',
  explicit: episode?.explicit === undefined || episode.explicit === null ? '' : `${episode.explicit}`,
  description: episode?.description ?? '',
  published_at: episode?.published_at ? localTime(Date.parse(episode.published_at)) : '',
})

/** Returns the episode in the format of the API; null if nothing is set. A time that was not changed keeps its seconds. */
function episodeOf(draft: Draft, before: Track['episode']): Episode | null {
  const isSame = draft.published_at === draftOf(before).published_at
  const time = isSame ? before?.published_at : draft.published_at && new Date(draft.published_at).toISOString()
  const episode = {
    season: draft.season === '' ? null : Number(draft.season),
    number: draft.number === '' ? null : Number(draft.number),
    type: draft.type,
    explicit: draft.explicit === '' ? null : draft.explicit === 'true',
    description: draft.description.trim() || null,
    published_at: time || null,
  }
  const { type, ...others } = episode
  return type === 'full' && Object.values(others).every((value) => value === null) ? null : episode
}

interface Properties {
  track: Track
  isOpen: boolean
  save: (changes: { episode: Episode | null }) => Promise<Failure | undefined>
}

/** The fields of a track that only the podcast feeds of links show. */
export function EpisodeForm({ track, isOpen, save }: Properties) {
  const [draft, setDraft] = useState(draftOf(track.episode))
  const [faults, setFaults] = useState<Faults>({})
  const edit = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  async function send() {
    const failure = await save({ episode: episodeOf(draft, track.episode) })
    // The errors of the fields have paths such as `episode.season`.
    const errors = failure?.errors?.map((error) => ({ ...error, path: error.path.replace(/^episode\./, '') })) ?? []
    setFaults(failure ? faultsOf({ ...failure, errors }, Object.keys(draft)) : {})
    if (!failure) announce(t('The episode is saved.'))
  }
  return (
    <Fold title={t('Podcast episode')} isOpen={isOpen}>
      <Form onSubmit={send} aria-label={t('Podcast episode')}>
        <p class="hint">{t('For the podcast feeds of the links to this track, its collection and its playlists.')}</p>
        <EpisodeFields draft={draft} faults={faults} edit={edit} />
        <Message>{faults.other}</Message>
        <div class="actions end">
          <Button type="submit">{t('Save')}</Button>
        </div>
      </Form>
    </Fold>
  )
}

interface FieldsProperties {
  draft: Draft
  faults: Faults
  edit: (changes: Partial<Draft>) => void
}

const EpisodeFields = ({ draft, faults, edit }: FieldsProperties) => (
  <>
    <NumberField
      label={t('Season')}
      value={draft.season}
      onInput={(season) => edit({ season })}
      error={faults.season}
    />
    <NumberField
      label={t('Episode')}
      value={draft.number}
      onInput={(number) => edit({ number })}
      error={faults.number}
    />
    <SelectField
      label={t('Kind')}
      value={draft.type}
      options={[
        ['full', t('Whole episode')],
        ['trailer', t('Trailer')],
        ['bonus', t('Bonus')],
      ]}
      onChange={(type) => edit({ type: type as Draft['type'] })}
    />
    <SelectField
      label={t('For adults')}
      value={draft.explicit}
      options={[
        ['', t('As the podcast')],
        ['true', t('Yes')],
        ['false', t('No')],
      ]}
      onChange={(explicit) => edit({ explicit: explicit as Draft['explicit'] })}
    />
    <Field
      label={t('Published')}
      error={faults.published_at}
      hint={t('Empty: when the track was added. The episode appears in feeds at this time.')}
    >
      {(id, described) => (
        <input
          type="datetime-local"
          id={id}
          aria-describedby={described}
          aria-invalid={faults.published_at ? true : undefined}
          value={draft.published_at}
          onInput={(event) => edit({ published_at: event.currentTarget.value })}
        />
      )}
    </Field>
    <Field
      label={t('Notes')}
      error={faults.description}
      hint={t('Empty lines separate paragraphs. You can use **bold**, *italic* and [links](https://example.com).')}
    >
      {(id, described) => (
        <textarea
          id={id}
          rows={6}
          maxLength={MAX_EPISODE_TEXT}
          aria-describedby={described}
          aria-invalid={faults.description ? true : undefined}
          dir="auto"
          value={draft.description}
          onInput={(event) => edit({ description: event.currentTarget.value })}
        />
      )}
    </Field>
  </>
)
