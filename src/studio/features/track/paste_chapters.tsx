import { useState } from 'preact/hooks'

import { t } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Field } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { Cancel, Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { type Imported, readLines } from './chapter_import.ts'

interface Properties {
  onChapters: (imported: Imported) => void
  onClose: () => void
}

/** The dialog that reads chapters from a text with a line for each. */
export function PasteChapters({ onChapters, onClose }: Properties) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  async function read() {
    const imported = readLines(text)
    if (imported.problem === undefined) onChapters(imported)
    else setProblem(imported.problem)
  }
  return (
    <Dialog title={t('Paste chapters')} asks={text.trim() !== '' && DISCARD} onClose={onClose}>
      <Form noValidate onSubmit={read}>
        <Field
          label={t('Chapters, one per line')}
          hint={t('Each line starts with a time, followed by the title. This replaces the list on the page.')}
          error={problem || undefined}
        >
          {(id, described) => (
            <textarea
              id={id}
              dir="auto"
              rows={8}
              aria-describedby={described}
              aria-invalid={problem ? true : undefined}
              placeholder={'00:00 …\n04:30 …'}
              value={text}
              onInput={({ currentTarget }) => {
                setText(currentTarget.value)
                setProblem('')
              }}
            />
          )}
        </Field>
        <div class="actions end">
          <Cancel />
          <Button kind="primary" type="submit" disabled={text.trim() === ''}>
            {t('Use these chapters')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
