import { storageFault } from '../../client/playback/session.ts'
import { element } from '../shared/dom.ts'

interface Problem {
  code: string
  message: string
}
type Answer = { ok: true; download: { url: string } } | ({ ok: false } & Problem)

/** Milliseconds after which a tab that is still empty has given its file to the downloads. */
const SETTLED = 5000

/**
 * Asks for a file's URL and lets the browser load it, without holding it in memory; answers why not.
 *
 * In a tab of its own: whatever the storage answers, an error or sound that is shown, the page with the player stays. A frame within
 * the page would need its `frame-src` and would play such sound.
 */
export async function download(ask: () => Promise<Answer>): Promise<Problem | null> {
  // WebKit opens none once something was waited for. Elsewhere one that opens with its file closes by itself when it is `attachment`.
  const tab = navigator.vendor.startsWith('Apple') ? open('', '_blank') : null
  const answer = await ask()
  const problem = answer.ok ? await refusal(answer.download.url) : answer
  if (problem || !answer.ok) tab?.close()
  else if (tab) fill(tab, answer.download.url)
  // On the service's own pages the local storage is of the same origin: there `download` saves what has no `attachment`.
  else element('a', { href: answer.download.url, target: '_blank', rel: 'noopener', download: true }).click()
  return problem
}

function fill(tab: Window, url: string): void {
  tab.opener = null
  tab.location.replace(url)
  setTimeout(() => isEmpty(tab) && tab.close(), SETTLED)
}

function isEmpty(tab: Window): boolean {
  try {
    return tab.location.href === 'about:blank'
  } catch {
    // It shows something of the storage's origin.
    return false
  }
}

/** A page whose policy forbids to ask the storage finds out in the tab. */
async function refusal(url: string): Promise<Problem | null> {
  const fault = await storageFault(url)
  return fault?.status ? { code: 'download_failed', message: `The storage answered ${fault.status}` } : null
}
