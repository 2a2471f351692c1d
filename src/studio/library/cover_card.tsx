import type { CoverImage } from '../api.ts'
import { useQuery } from '../data/query.ts'
import { useVisible } from '../ui/visible.ts'

interface CardDetails {
  ok: true
  cover: CoverImage | null
  note: string
}

interface Properties {
  href: string
  title: string
  /** Reads the details that the list does not contain, once the card is in view. */
  load: () => Promise<CardDetails>
}

/** A cover with a title, in a grid of collections or playlists. */
export function CoverCard({ href, title, load }: Properties) {
  const [ref, visible] = useVisible<HTMLLIElement>()
  const { answer } = useQuery<CardDetails>(visible ? { key: ['card', href], load } : null)
  return (
    <li class="cover-card" ref={ref}>
      <a href={href}>
        <span class="cover">
          {answer?.cover && <img src={answer.cover.regular.url} alt="" width="400" height="400" loading="lazy" />}
        </span>
        <span class="name">{title}</span>
      </a>
      <span class="soft">{answer?.note ?? '\u00a0'}</span>
    </li>
  )
}
