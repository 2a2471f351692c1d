import { useLayoutEffect, useRef, useState } from 'preact/hooks'

import { MAX_CHAPTERS } from '../../../contract/facts.ts'
import type { Track } from '../../base/api.ts'
import { timeText } from '../../base/clock.ts'
import { formatClock } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { nowPlaying, position } from '../../data/now_playing.ts'
import { useStore } from '../../data/store.ts'
import { Button } from '../../ui/controls/button.tsx'
import { chooseFile } from '../../ui/controls/choose_file.ts'
import { Form } from '../../ui/controls/form.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { Conflict } from '../../ui/edit/conflict.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Message } from '../../ui/page/states.tsx'
import { type Imported, readJson } from './chapter_import.ts'
import { ChapterList, positionText } from './chapter_list.tsx'
import { newRow, rowsFrom, sorted } from './chapter_rows.ts'
import { PasteChapters } from './paste_chapters.tsx'
import type { ChapterEditing } from './use_chapters.ts'

interface Properties {
  track: Track
  editing: ChapterEditing
}

/** The chapters of a track as a list that is edited, and imported from a file or a pasted text. */
export function Chapters({ track, editing }: Properties) {
  const { rows, edit } = editing
  /** The row whose time is being typed. It is not sorted and shows no error until the field is left. */
  const [typing, setTyping] = useState<number | null>(null)
  const section = useRef<HTMLElement>(null)
  const focusOn = useFocus(section)
  const isCurrent = useStore(nowPlaying)?.track_id === track.id

  function add() {
    const row = newRow(isCurrent ? positionText(track) : rows.length === 0 ? timeText(0) : '')
    edit((rows) => sorted([...rows, row]))
    if (!row.time) setTyping(row.key)
    focusOn(`[data-chapter="${row.key}"] .chapter-${row.time ? 'title' : 'time'}`)
  }
  function save() {
    setTyping(null)
    // `Form` focuses an invalid field only after a request; these errors are found without one.
    focusOn('[aria-invalid=true]')
    return editing.save()
  }
  /** Returns a handler for a button that disappears. Then the first button gets the focus. */
  const leaving = (act: () => unknown) => async () => {
    setTyping(null)
    await act()
    if (document.activeElement === document.body) focusOn('.actions .button:enabled')
  }
  const isFull = rows.length >= MAX_CHAPTERS
  return (
    <section class="part chapters" ref={section} aria-labelledby="chapters-title">
      <Head editing={editing} />
      {rows.length === 0 && (
        <p class="soft">{t('No chapters. With chapters, listeners can jump to the parts of a long track.')}</p>
      )}
      <Form noValidate aria-labelledby="chapters-title" onSubmit={save}>
        <ChapterList {...{ track, editing, isCurrent, typing, setTyping, focusOn }} />
        <Message>{editing.refused.problem}</Message>
        <div class="actions">
          <Button icon="plus" onClick={add} disabled={isFull}>
            {isCurrent ? <AddText track={track} /> : t('Add a chapter')}
          </Button>
          {editing.isChanged && !editing.isConflict && (
            <>
              <Button type="submit" kind="primary">
                {t('Save')}
              </Button>
              <Button onClick={leaving(editing.discard)}>{t('Discard')}</Button>
            </>
          )}
          {editing.canRevert && (
            <Button kind="quiet" onClick={leaving(editing.revert)}>
              {t("Use the file's chapters again")}
            </Button>
          )}
        </div>
        {editing.isConflict && <Conflict onMine={leaving(editing.overwrite)} onTheirs={leaving(editing.discard)} />}
      </Form>
    </section>
  )
}

/** The heading, and the menu that imports chapters. */
function Head({ editing }: Pick<Properties, 'editing'>) {
  const [isPasting, setPasting] = useState(false)
  function take(imported: Imported) {
    if (imported.problem !== undefined) return announce(imported.problem)
    setPasting(false)
    editing.replace(
      sorted(rowsFrom(imported.chapters)),
      tn(
        {
          one: '{n} chapter is in the list. Save it to show it to listeners.',
          other: '{n} chapters are in the list. Save them to show them to listeners.',
        },
        imported.chapters.length,
      ),
    )
  }
  async function readFile() {
    const file = await chooseFile('.json,application/json')
    if (file) take(readJson(await file.text()))
  }
  return (
    <div class="part-head">
      <h2 id="chapters-title">{t('Chapters')}</h2>
      <Menu
        label={t('Import chapters')}
        text={t('Import')}
        icon="upload"
        items={[
          { label: t('From a JSON Chapters file …'), onSelect: readFile },
          { label: t('From a pasted list …'), onSelect: () => setPasting(true) },
        ]}
      />
      {isPasting && <PasteChapters onChapters={take} onClose={() => setPasting(false)} />}
    </div>
  )
}

/** Follows the position of the player. */
function AddText({ track }: { track: Track }) {
  return <>{t('Add a chapter at {time}', { time: formatClock(useStore(position) * track.duration) })}</>
}

/** Returns a function that focuses an element of the section, given as a selector, once it is shown. */
function useFocus(section: { current: HTMLElement | null }) {
  const wanted = useRef('')
  const [, render] = useState({})
  useLayoutEffect(() => {
    if (!wanted.current) return
    section.current?.querySelector<HTMLElement>(wanted.current)?.focus()
    wanted.current = ''
  })
  return (selector: string) => {
    wanted.current = selector
    render({})
  }
}
