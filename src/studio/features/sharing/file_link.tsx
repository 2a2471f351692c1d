import { DEFAULT_VARIANTS } from '../../../contract/facts.ts'
import type { ShareLink } from '../../base/api.ts'
import { t } from '../../base/text.ts'
import { Copyable } from '../../ui/page/copyable.tsx'
import { hasEnded } from './link.ts'

const [AAC, MP3, OPUS, LOSSLESS] = DEFAULT_VARIANTS
/** The types of file links by variant. The first that a link allows is shown. */
const TYPES = [
  [MP3, 'mp3'],
  [AAC, 'm4a'],
  [OPUS, 'opus'],
  [LOSSLESS, 'flac'],
] as const

/** Returns the address of the file of a link, or of the file of any track in it; null if its files have none (docs/share.md#links-to-files). */
function fileAddress(link: ShareLink): string | null {
  const { url, scope, variants, is_downloadable, has_password, allowed_origins } = link
  const type = TYPES.find(([variant]) => variants?.includes(variant) ?? true)?.[1]
  if (!type || !is_downloadable || has_password || allowed_origins || hasEnded(link)) return null
  return `${url}${scope === 'track' ? '' : '/TRACK_ID'}.${type}`
}

/** The address of the file of a link, to copy. */
export function FileLink({ link }: { link: ShareLink | undefined }) {
  const address = link ? fileAddress(link) : null
  if (address === null)
    return (
      <p class="soft">
        {t('Turn on “Visitors may download”, without a password and named sites, to link to the file itself.')}
      </p>
    )
  return (
    <>
      <Copyable label={t('Link to the file')} value={address} />
      <p class="hint">
        {t('It plays in feeds, mails and other players. Downloads are counted.')}
        {link!.scope !== 'track' && ` ${t('Replace TRACK_ID with the id of a track.')}`}
      </p>
    </>
  )
}
