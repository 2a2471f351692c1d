import { element } from '../shared/dom.ts'

interface Problem {
  code: string
  message: string
}

/**
 * Lets the browser load a file, without holding it in memory; answers why not.
 *
 * In a tab of its own, which closes by itself when the answer says `attachment`: whatever the storage answers, an error or
 * sound that is shown, the page with the player stays. A frame within the page would need its `frame-src` and would play such
 * sound. Browsers that count the click as too long ago to open a tab say so themselves.
 */
export async function download(url: string): Promise<Problem | null> {
  const problem = await refusal(url)
  // On the service's own pages the local storage is of the same origin: there `download` saves what has no `attachment`.
  if (!problem) element('a', { href: url, target: '_blank', rel: 'noopener', download: true }).click()
  return problem
}

/** What the storage says to the first byte. A page whose policy lets nobody ask finds out in the tab. */
async function refusal(url: string): Promise<Problem | null> {
  const answer = await fetch(url, { headers: { range: 'bytes=0-0' } }).catch(() => null)
  void answer?.body?.cancel()
  return !answer || answer.ok ? null : { code: 'download_failed', message: `The storage answered ${answer.status}` }
}
