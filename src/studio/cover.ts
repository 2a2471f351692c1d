import { uploadFile } from '../client/index.ts'
import { type Client, type PlayView, readPlayView } from './api.ts'
import { announce, fileButton } from './dom.ts'
import { explain } from './format.ts'

const POLLS = 40
const DELAY = 500

/** The button that gives a track a new cover; calls back with the play view that shows it. */
export function coverButton(
  client: Client,
  view: PlayView,
  onView: (view: PlayView) => void,
  onProblem: (message: string) => void,
): HTMLElement {
  async function send(file: File | undefined) {
    if (!file) return
    onProblem('')
    announce('Uploading the cover')
    const created = await client.post('/v1/track/{track_id}/cover', { params: { track_id: view.track_id } })
    if (!created.ok) return onProblem(explain(created))
    const sent = await uploadFile(created.track_cover_upload, file)
    if (!sent.ok) return onProblem(explain(sent))
    const changed = await waitForCover(client, view)
    if (!changed) return onProblem('The cover was uploaded, but it is not there yet. Play the track again in a moment.')
    announce('The cover has changed')
    onView(changed)
  }
  return fileButton(
    'Change cover',
    'image/jpeg,image/png,image/webp,image/gif,image/avif',
    false,
    (files) => void send(files[0]),
    'small',
  )
}

/** The squares are cut in the background: asks until their links lead elsewhere (a signature alone changes all the time). */
async function waitForCover(client: Client, before: PlayView): Promise<PlayView | undefined> {
  const place = (view: PlayView) => new URL(view.cover_image.regular.url).pathname
  for (let poll = 0; poll < POLLS; poll++) {
    await new Promise((resolve) => setTimeout(resolve, DELAY))
    const view = await readPlayView(client, before.play_session_id, before.track_id)
    if (view.ok && place(view) !== place(before)) return view
  }
  return undefined
}
