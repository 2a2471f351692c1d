import type { CoverImage } from '../../base/api.ts'

interface Properties {
  href: string
  title: string
  cover: CoverImage | undefined
  note: string
  /** The place in a list of which only a part is in the page, and the length of the list. */
  place?: { at: number; count: number }
}

/** A cover with a title, in a grid of collections or playlists. */
export const CoverCard = ({ href, title, cover, note, place }: Properties) => (
  <li class="cover-card" data-row aria-posinset={place && place.at + 1} aria-setsize={place?.count}>
    <a href={href}>
      <span class="cover">
        {cover && <img src={cover.regular.url} alt="" width="400" height="400" decoding="async" />}
      </span>
      <span class="name" dir="auto">
        {title}
      </span>
    </a>
    <span class="soft">{note || '\u00a0'}</span>
  </li>
)
