import { useState } from 'preact/hooks'

import { explain, plural } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { useSearchField } from '../../data/search.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { useOnce } from '../../ui/controls/once.ts'
import { Dialog } from '../../ui/page/dialog.tsx'
import { Loading, Message, Problem } from '../../ui/page/states.tsx'

/** The number of collections that the dialog shows. */
const MOST = 50

interface Properties {
  title: string
  /** The collection that cannot be chosen. */
  except: string | undefined
  onChoose: (collection: { id: string; title: string }) => unknown
  onClose: () => void
}

/** A dialog that chooses a collection by search, or creates one with the text of the search as its title. */
export function ChooseCollection({ title, except, onChoose, onClose }: Properties) {
  const client = useClient()
  const [q, setQ] = useState('')
  const [words, onWords] = useSearchField(q, setQ)
  const [fault, setFault] = useState('')
  const [, once] = useOnce()
  const query = { limit: MOST, include: ['counts' as const], ...(q ? { q } : { sort: '-updated_at' as const }) }
  const { answer, problem, reload } = useQuery({
    key: ['/v1/collection', query],
    showsPrevious: true,
    load: () => client.get('/v1/collection', { query }),
  })
  async function create() {
    const made = await client.post('/v1/collection', { body: { title: words.trim() } })
    if (made.ok) onChoose({ id: made.collection_id, title: made.collection.title })
    else setFault(explain(made))
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <TextField label={t('Find a collection, or name a new one')} value={words} onInput={onWords} />
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading />}
      <ul class="choices">
        {(answer?.collections ?? [])
          .filter(({ id }) => id !== except)
          .map(({ id, title, counts }) => (
            <li key={id}>
              <button type="button" onClick={() => onChoose({ id, title })}>
                <span>{title}</span>
                <span class="soft">{counts && plural(counts.tracks, 'track')}</span>
              </button>
            </li>
          ))}
      </ul>
      {words.trim() && (
        <Button icon="plus" onClick={() => once(create)}>
          {t('New collection “{title}”', { title: words.trim() })}
        </Button>
      )}
      <Message>{fault}</Message>
    </Dialog>
  )
}
