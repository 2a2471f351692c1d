import type { CoverImage } from '../api.ts'

interface Properties {
  href: string
  title: string
  cover: CoverImage | undefined
  note: string
}

/** A cover with a title, in a grid of collections or playlists. */
export const CoverCard = ({ href, title, cover, note }: Properties) => (
  <li class="cover-card">
    <a href={href}>
      <span class="cover">
        {cover && <img src={cover.regular.url} alt="" width="400" height="400" loading="lazy" decoding="async" />}
      </span>
      <span class="name">{title}</span>
    </a>
    <span class="soft">{note || '\u00a0'}</span>
  </li>
)
