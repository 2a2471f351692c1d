import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { uploadFile } from '../../client/index.ts'
import { COVER_ACCEPT } from '../../client/upload/accept.ts'
import type { CoverImage, Failure, UploadHandle } from '../api.ts'
import { explain } from '../format.ts'
import { goBack, href } from '../route.ts'
import { t } from '../text.ts'
import { announce } from './announce.ts'
import { FileButton } from './button.tsx'
import { Icon } from './icon.tsx'
import { Message } from './states.tsx'

interface BackProperties {
  href: string
  label: string
}

/** A link to the page that contains this one. */
export const Back = ({ href, label }: BackProperties) => (
  <a class="back" href={href} onClick={goBack}>
    <Icon name="back" />
    {label}
  </a>
)

interface Properties {
  back: BackProperties
  title: string
  note: ComponentChildren
  cover: CoverImage | undefined
  /** Resolves to the upload handle of a new cover. */
  handle: () => Promise<{ ok: true; handle: UploadHandle } | Failure>
  /** Called when a new cover has been processed. */
  onCover: () => unknown
  children: ComponentChildren
}

/** The head of a page: cover, title and actions. */
export function PageHead({ back, title, note, cover, handle, onCover, children }: Properties) {
  const [problem, setProblem] = useState('')
  async function send(file: File | undefined) {
    if (!file) return
    setProblem('')
    announce(t('Uploading the cover'))
    const made = await handle()
    const sent = made.ok ? await uploadFile(made.handle, file) : made
    if (!sent.ok) return setProblem(explain(sent))
    announce(t('The cover has changed'))
    await onCover()
  }
  return (
    <div class="thing-head">
      <Back {...back} />
      <div class="cover-box">
        <span class="cover">
          {cover && <img src={cover.regular.url} alt={t('Cover of {title}', { title })} width="400" height="400" />}
        </span>
        <FileButton accept={COVER_ACCEPT} small icon="image" onFiles={(files) => send(files[0])}>
          {t('Change cover')}
        </FileButton>
      </div>
      <div class="thing-text">
        <h1>{title}</h1>
        <p class="soft">{note}</p>
        <div class="actions">{children}</div>
        <Message>{problem}</Message>
      </div>
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
