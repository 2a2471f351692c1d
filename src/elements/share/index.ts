/** The module `/elements/share.js` of the page of a share. The button opens the system's share sheet. If the browser cannot share, it copies the address. */

const button = document.querySelector<HTMLButtonElement>('button[data-share]')

/** Both are missing without TLS. */
interface Sharing {
  share?: (data: ShareData) => Promise<void>
  clipboard?: Clipboard
}
const sharing: Sharing = navigator

async function send({ share: url = '', copied = '' }: DOMStringMap): Promise<void> {
  // A visitor who closes the sheet has not asked for a copy.
  if (sharing.share) return sharing.share({ title: document.title, url }).catch(() => undefined)
  await sharing.clipboard?.writeText(url)
  button!.textContent = copied
}

if (button && (sharing.share ?? sharing.clipboard)) {
  button.hidden = false
  button.addEventListener('click', () => void send(button.dataset))
}
