import { isRetriable } from '../../client/upload/session.ts'
import { withoutExtension } from '../../contract/facts.ts'
import type { TrackInfo } from '../../contract/info.ts'
import type { Listed, Track } from '../base/api.ts'
import { failureText, t } from '../base/text.ts'
import { usesTags } from './organization.ts'

type Named = Pick<Listed, 'player_title' | 'file_name' | 'tags'>

/** Returns the tags of a track's file if the organization uses tags. */
const usedTags = ({ tags }: Pick<Listed, 'tags'>): Listed['tags'] => (usesTags() ? tags : {})

/** Returns the artist of a track: its subtitle, or else the artist in the tags of its file. */
export function artistOf(track: Pick<Listed, 'player_subtitle' | 'tags'>) {
  const { artist, album_artist } = usedTags(track)
  return track.player_subtitle || artist || album_artist
}

/** Returns the title in the tags of a track's file, or else the name of the file. */
export const fileTitle = (track: Named) => usedTags(track).title ?? withoutExtension(track.file_name)

/** Returns the title of a track, or else that of its file. */
export const nameOf = (track: Named) => track.player_title || fileTitle(track)

export const infoOf = (track: Pick<Track, 'info'> | undefined): TrackInfo => track?.info ?? {}

/** Returns the action that may help a failed track: `retry`, `replace` its file, or `send` the file that never arrived. */
export function remedyFor({ error }: TrackInfo): 'retry' | 'replace' | 'send' {
  const code = error?.code ?? ''
  if (code === 'upload_expired') return 'send'
  return code === '' || isRetriable(code) ? 'retry' : 'replace'
}

/** Returns why a track failed. */
export const failureOf = ({ error }: { error?: TrackInfo['error'] | null }) =>
  error ? failureText(error) : t('This file could not be processed.')
