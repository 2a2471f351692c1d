import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

import { uploadFile } from '../../../client/index.ts'
import { COVER_ACCEPT } from '../../../client/upload/accept.ts'
import type { CoverImage, Failure, UploadHandle } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { FileButton } from '../controls/button.tsx'
import { announce, byId } from './announce.ts'
import { Back, type BackProperties } from './head.tsx'
import { Message } from './states.tsx'

interface CoverProperties {
  title: string
  cover: CoverImage | undefined
  /** Resolves to the upload handle of a new cover. */
  handle: () => Promise<{ ok: true; handle: UploadHandle } | Failure>
  /** Called when a new cover has been processed. */
  onCover: () => unknown
}

interface Properties extends CoverProperties {
  back: BackProperties
  /** The title, if it can be edited. */
  heading?: ComponentChildren
  note: ComponentChildren
  /** A color of the cover, `#RRGGBB`, with which the head is tinted. If it is gray, the color of the studio is used. */
  tint?: string | undefined
  children: ComponentChildren
}

/** The largest difference between the channels of a color that looks gray. */
const GRAY = 16

function isGray(hex: string): boolean {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
  return Math.max(...channels) - Math.min(...channels) <= GRAY
}

/** The head of a page: cover, title and actions. */
export function PageHead({ back, title, heading, note, tint, children, ...cover }: Properties) {
  const [problem, setProblem] = useState('')
  return (
    <div
      class={tint ? 'thing-head tinted' : 'thing-head'}
      style={tint && { '--tint': isGray(tint) ? 'var(--accent)' : tint }}
    >
      <Back {...back} />
      <CoverBox title={title} {...cover} onProblem={setProblem} />
      <div class="thing-text">
        {heading ?? <h1>{title}</h1>}
        <p class="soft">{note}</p>
        <div class="actions">{children}</div>
        <Message>{problem}</Message>
      </div>
    </div>
  )
}

const imageIn = ({ dataTransfer }: DragEvent) =>
  [...(dataTransfer?.items ?? [])].find(({ kind, type }) => kind === 'file' && type.startsWith('image/'))

interface BoxProperties extends CoverProperties {
  onProblem: (problem: string) => void
}

/** A cover, which is replaced by a picture that is chosen, or dropped on it. The picture is shown while it is sent. */
function CoverBox({ title, cover, handle, onCover, onProblem }: BoxProperties) {
  const [sent, setSent] = useState<string | null>(null)
  const [isOver, setOver] = useState(false)
  useEffect(() => () => URL.revokeObjectURL(sent ?? ''), [sent])

  async function send(file: File | undefined) {
    if (!file) return
    onProblem('')
    announce(t('Uploading the cover'))
    setSent(URL.createObjectURL(file))
    const made = await handle()
    const answer = made.ok ? await uploadFile(made.handle, file) : made
    if (answer.ok) {
      announce(t('The cover has changed'))
      await onCover()
    } else onProblem(explain(answer))
    setSent(null)
  }
  function over(event: DragEvent) {
    if (!imageIn(event)) return
    event.preventDefault()
    // Otherwise, the picture would be uploaded as a track.
    event.stopPropagation()
    byId('drop-veil').classList.remove('shown')
    setOver(true)
  }
  function drop(event: DragEvent) {
    const file = imageIn(event)?.getAsFile()
    setOver(false)
    if (!file) return
    event.preventDefault()
    event.stopPropagation()
    void send(file)
  }
  const url = sent ?? cover?.regular.url
  return (
    <div
      class={isOver ? 'cover-box over' : 'cover-box'}
      aria-busy={sent !== null}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <span class="cover">
        {url && <img src={url} alt={t('Cover of {title}', { title })} width="400" height="400" />}
      </span>
      <FileButton accept={COVER_ACCEPT} small icon="image" onFiles={(files) => send(files[0])}>
        {t('Change cover')}
      </FileButton>
    </div>
  )
}

interface TabsProperties {
  page: string
  id: string
  current: string
  tabs: readonly (readonly [tab: string, label: string])[]
}

/** The tabs of a page. Each has its own address. */
export const Tabs = ({ page, id, current, tabs }: TabsProperties) => (
  <nav class="tabs" aria-label={t('Parts of this page')}>
    {tabs.map(([tab, label]) => (
      <a key={tab} href={href(page, id, tab)} aria-current={tab === current ? 'page' : undefined}>
        {label}
      </a>
    ))}
  </nav>
)
