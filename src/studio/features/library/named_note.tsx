import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { names, undoNaming } from '../../data/naming.ts'
import { useStore } from '../../data/store.ts'
import { Button } from '../../ui/controls/button.tsx'
import { announce } from '../../ui/page/announce.ts'

/** Says that the title of a collection comes from the tags of its files, and undoes that. */
export function NamedNote({ id }: { id: string }) {
  const client = useClient()
  const name = useStore(names)[id]
  async function undo() {
    const title = await undoNaming(client, id)
    if (title === null) return announce(t('The title could not be changed. Try again.'))
    announce(t('The title is “{title}” again', { title }))
  }
  return (
    <p class="edit-note soft" role="status">
      {name?.isFromTags && (
        <>
          {t('Named from the files’ tags')} ·{' '}
          <Button kind="quiet" small onClick={undo}>
            {t('Undo')}
          </Button>
        </>
      )}
    </p>
  )
}
