import { isFinal } from '../client/index.ts'
import { type Client, connect, openLibrary, type Listed, listTracks } from './api.ts'
import { collectionBar } from './collection_bar.ts'
import { byId, element, fileButton } from './dom.ts'
import { acceptDrops } from './drop.ts'
import { explain } from './format.ts'
import { showPlayer } from './player.ts'
import { forgetKey, keepKey, takeKey } from './session.ts'
import { signInForm } from './sign_in.ts'
import { type TrackRow, trackRow } from './track_row.ts'
import { follow, uploadTrack } from './upload.ts'

const main = byId('main')
const signOut = byId('sign-out')
let onDrop = (_files: File[]) => {}

function showSignIn(problem = ''): void {
  const accept = (key: string) => {
    keepKey(key)
    void showStudio(key)
  }
  signOut.hidden = true
  onDrop = () => {}
  main.replaceChildren(signInForm(accept, problem))
}

async function showStudio(key: string): Promise<void> {
  const client = connect(key)
  const listed = await openLibrary(client)
  if (!listed.ok) return showSignIn(listed.status === 401 ? 'This key is not valid any more.' : explain(listed))
  signOut.hidden = false
  const player = element('div', { class: 'player-place', attributes: { 'aria-live': 'polite' } })
  const list = element('ul', { class: 'tracks', attributes: { 'aria-label': 'Tracks' } })
  const error = element('p', { class: 'error', attributes: { role: 'alert' } })
  const studio = createStudio(client, { player, list, error })
  onDrop = studio.addFiles
  const drop = element(
    'div',
    { class: 'card drop' },
    element('p', {}, 'Drop audio files anywhere, or'),
    fileButton('Choose files', 'audio/*,video/mp4,.flac,.m4a,.ogg,.opus,.wav,.aiff', true, studio.addFiles, 'primary'),
  )
  const bar = collectionBar(client, listed.collections, (id) => void studio.openCollection(id))
  main.replaceChildren(element('div', { class: 'library' }, bar, drop, error, list), player)
}

interface Places {
  player: HTMLElement
  list: HTMLElement
  error: HTMLElement
}

function createStudio(client: Client, { player, list, error }: Places) {
  let collection_id = ''

  const play = (track_id: string, autoplay: boolean) => showPlayer(client, track_id, player, autoplay)

  async function addFile(file: File) {
    let track_id: string | undefined
    const row = trackRow(file.name, () => track_id && void play(track_id, true))
    list.prepend(row.root)
    track_id = await uploadTrack(client, collection_id, file, row)
    // The last of several to be ready must not take the player away from what is being listened to.
    const audio = player.querySelector('audio')
    if (track_id && (!audio || (audio.paused && audio.currentTime === 0))) await play(track_id, false)
  }
  const addFiles = (files: File[]) => files.forEach((file) => void addFile(file))

  function showListed(track: Listed) {
    const row = trackRow(track.player_title ?? track.file_name, () => void play(track.id, true))
    list.prepend(row.root)
    row.showTrack(track)
    // The list does not say why a track failed, or how far one is.
    if (!isFinal(track) || track.status === 'failed') void followQuietly(track, row)
  }

  async function followQuietly(track: Listed, row: TrackRow) {
    // Without a file there is nothing to follow; the page that uploads it is another one.
    if (track.status !== 'initializing') await follow(client, track.id, row)
  }

  async function openCollection(id: string) {
    collection_id = id
    list.replaceChildren()
    player.replaceChildren()
    const listed = await listTracks(client, id)
    if (collection_id !== id) return
    error.textContent = listed.ok ? '' : explain(listed)
    if (listed.ok) listed.tracks.forEach(showListed)
  }

  return { addFiles, openCollection }
}

signOut.addEventListener('click', () => {
  forgetKey()
  location.reload()
})
acceptDrops(byId('drop-veil'), (files) => onDrop(files))
const key = takeKey()
if (key) void showStudio(key)
else showSignIn()
// Another link with a key was opened in this tab.
window.addEventListener('hashchange', () => location.hash.includes('key=') && location.reload())
