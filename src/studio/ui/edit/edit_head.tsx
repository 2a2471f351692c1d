import type { Failure } from '../../base/api.ts'
import { t } from '../../base/text.ts'
import { EditText } from './edit_text.tsx'

interface Properties {
  /** The start of the names of the drafts, such as `track/{id}`. */
  draft: string
  title: string
  /** The title that applies if it is empty; without it, a title is required. */
  defaultTitle?: string
  subtitle: string
  /** The name of the subtitle, and the text in its place while it is empty. */
  subtitleLabel: string
  addSubtitle: string
  saveTitle: (title: string) => Promise<Failure | undefined>
  saveSubtitle: (subtitle: string) => Promise<Failure | undefined>
}

/** The title and the subtitle of a page, which are edited in place. */
export function EditHead(properties: Properties) {
  const { draft, title, defaultTitle, subtitle, subtitleLabel, addSubtitle, saveTitle, saveSubtitle } = properties
  return (
    <div class="edit-fields">
      <EditText
        isHeading
        draft={`${draft}/title`}
        label={t('Title')}
        value={title}
        placeholder={defaultTitle ?? ''}
        isRequired={defaultTitle === undefined}
        save={saveTitle}
      />
      <EditText
        draft={`${draft}/subtitle`}
        label={subtitleLabel}
        value={subtitle}
        placeholder={addSubtitle}
        save={saveSubtitle}
      />
    </div>
  )
}
