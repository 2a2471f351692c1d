import { useEffect, useState } from 'preact/hooks'

import type { CoverImage } from '../api.ts'
import { useVisible } from '../state/visible.ts'

interface Properties {
  href: string
  title: string
  /** What the list does not say; read when the card comes into view. */
  load: () => Promise<{ cover: CoverImage | null; note: string }>
}

/** A square with a picture and a name, in a grid of such. */
export function CoverCard({ href, title, load }: Properties) {
  const [ref, visible] = useVisible<HTMLLIElement>()
  const [more, setMore] = useState<{ cover: CoverImage | null; note: string }>()
  useEffect(() => {
    if (!visible) return
    let current = true
    void load().then((loaded) => current && setMore(loaded))
    return () => {
      current = false
    }
  }, [visible])
  return (
    <li class="cover-card" ref={ref}>
      <a href={href}>
        <span class="cover">
          {more?.cover && <img src={more.cover.regular.url} alt="" width="400" height="400" loading="lazy" />}
        </span>
        <span class="name">{title}</span>
      </a>
      <span class="soft">{more?.note ?? '\u00a0'}</span>
    </li>
  )
}
