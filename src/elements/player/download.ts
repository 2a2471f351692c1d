/** Lets the browser download a file. Loaded on demand, because few listeners do. Imports nothing (docs/decisions/0038). */

interface Problem {
  code: string
  message: string
}
type Answer = { ok: true; download: { url: string } } | ({ ok: false } & Problem)

/** Milliseconds after which a tab that is still empty is closed. Its file was downloaded and not shown in the tab. */
const SETTLED = 5000

/** Requests a file from the storage. Resolves to null if the storage returns it. */
type Probe = (url: string) => Promise<{ status: number } | null>

/**
 * Requests the URL of a file and lets the browser download the file, without loading it into memory. Resolves to the problem, or null if
 * there is none. `tab` is an empty tab that was opened for the file.
 *
 * Uses a separate tab, so that the page with the player stays even if the storage answers with an error or with audio that the browser
 * plays. A frame would play the audio within the page, and `frame-src` would have to allow it.
 */
export async function download(
  requestUrl: () => Promise<Answer>,
  probe: Probe,
  tab: Window | null,
): Promise<Problem | null> {
  const answer = await requestUrl()
  const problem = answer.ok ? await refusal(answer.download.url, probe) : answer
  if (problem || !answer.ok) tab?.close()
  else if (tab) fill(tab, answer.download.url)
  // In other browsers, a tab that is opened with the URL closes by itself if the file is an `attachment`. The local storage has the same
  // origin as the service's pages, so the `download` attribute works there without `attachment`.
  else {
    const { url: href } = answer.download
    Object.assign(document.createElement('a'), { href, target: '_blank', rel: 'noopener', download: '' }).click()
  }
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
    // The tab shows a document from the storage's origin, so it is not empty.
    return false
  }
}

/**
 * Returns why the storage refuses the file, or null if it does not. Also returns null if the page's content security policy blocks the
 * request; the tab then shows the refusal.
 */
async function refusal(url: string, probe: Probe): Promise<Problem | null> {
  const fault = await probe(url)
  return fault?.status ? { code: 'download_failed', message: `The storage answered ${fault.status}` } : null
}
