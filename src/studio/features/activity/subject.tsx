import { href } from '../../base/route.ts'
import { t, text } from '../../base/text.ts'
import { Icon, type IconName } from '../../ui/controls/icon.tsx'

/** The kinds of subjects with their pages, and the icons of those without a cover. */
const KINDS: Record<string, { label: string; page: string; icon: IconName }> = {
  track: { label: text('Track {id}'), page: 'track', icon: 'library' },
  collection: { label: text('Collection {id}'), page: 'collection', icon: 'library' },
  playlist: { label: text('Playlist {id}'), page: 'playlist', icon: 'playlist' },
  share: { label: text('Link {id}'), page: 'shares', icon: 'external' },
  api_key: { label: text('Key {id}'), page: 'keys', icon: 'key' },
  webhook_endpoint: { label: text('Webhook {id}'), page: 'webhook', icon: 'webhook' },
  organization: { label: text('Organization'), page: 'usage', icon: 'usage' },
}
/** Pages that list all things of a kind. */
const LISTS = ['shares', 'keys', 'usage']

/** Returns the kind of a subject and the start of its id, which are known without a request. */
export function subjectName(subject: string): string {
  const [kind = '', id = ''] = subject.split(':')
  const label = KINDS[kind]?.label
  return label ? t(label, { id: id.slice(0, 8) }) : id.slice(0, 8)
}

/** The cover of a subject, or the icon of its kind. */
export const SubjectPicture = ({ subject, url }: { subject: string; url: string | undefined }) => (
  <span class="event-picture">
    {url ? (
      <img src={url} alt="" width="40" height="40" loading="lazy" />
    ) : (
      <Icon name={KINDS[subject.split(':')[0] ?? '']?.icon ?? 'activity'} />
    )}
  </span>
)

/** A link to the subject of an event. Without a title, its text is the kind and the start of the id. */
export function Subject({ subject, title }: { subject: string; title?: string | null | undefined }) {
  const [kind = '', id = ''] = subject.split(':')
  const page = KINDS[kind]?.page
  const name = title ?? subjectName(subject)
  // A title that is null belongs to something that does not exist anymore.
  if (!page || title === null) return <>{name}</>
  return <a href={href(page, LISTS.includes(page) ? '' : id)}>{name}</a>
}
