import type { ComponentChildren } from 'preact'

import type { Collection, Track } from '../../base/api.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { infoOf } from '../../data/track_text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Fold } from '../../ui/controls/fold.tsx'

interface Properties {
  track: Track
  collection: Collection | undefined
  onEdit: () => void
}

/** The credits of a track, with links to its collection and to a search for its artist, and the other tags of its file. */
export function Credits({ track, collection, onEdit }: Properties) {
  const { tags } = track
  const raw = Object.entries(infoOf(track).tags ?? {})
  const artist = track.player_subtitle || tags.artist
  const found = (words: string) => <a href={href('search', '', '', { q: words })}>{words}</a>
  const known: [term: string, value: ComponentChildren][] = [
    [t('Collection'), collection && <a href={href('collection', collection.id)}>{collection.title}</a>],
    [t('Artist'), artist && found(artist)],
    [t('Album'), tags.album && found(tags.album)],
    [t('Album artist'), tags.album_artist && tags.album_artist !== artist && found(tags.album_artist)],
    [t('Composer'), tags.composer && found(tags.composer)],
    [t('Genre'), tags.genre],
    [t('Date'), tags.date],
    [t('Number'), placeOf(tags.track_number, tags.track_count)],
    [t('Disc'), placeOf(tags.disc_number, tags.disc_count)],
  ]
  return (
    <section class="part" aria-labelledby="credits-title">
      <div class="part-head">
        <h2 id="credits-title">{t('Credits')}</h2>
        <Button kind="quiet" small icon="edit" label={t('Edit details')} onClick={onEdit} />
      </div>
      <dl class="facts">
        {known.map(
          ([term, value]) =>
            value && (
              <div key={term}>
                <dt>{term}</dt>
                <dd dir="auto">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {raw.length > 0 && (
        <Fold title={t('Tags of the file')}>
          <dl class="facts">
            {raw.map(([term, value]) => (
              <div key={term}>
                <dt>{term}</dt>
                <dd dir="auto">{value}</dd>
              </div>
            ))}
          </dl>
        </Fold>
      )}
    </section>
  )
}

/** Returns `3`, or `3 of 12` if the count is known. */
const placeOf = (n: number | undefined, count: number | undefined) =>
  n && count ? t('{n} of {count}', { n, count }) : n
