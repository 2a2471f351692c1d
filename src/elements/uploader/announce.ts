import { element } from '../shared/dom.ts'

/** Sentences are gathered for so long, so that three files that end together are one announcement, in milliseconds. */
const GATHER = 500
/** Progress is not spoken more often, in milliseconds. */
const BETWEEN = 10_000
/** … nor in smaller steps, in parts of the whole. */
const STEP = 0.1

/** A live region for screen readers: what happens, without reading every percent aloud. */
export function createAnnouncer() {
  const root = element('p', { class: 'visually-hidden', role: 'status' })
  let sentences: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let spoken = { at: 0, fraction: 1 }

  function say(sentence: string): void {
    if (!sentences.includes(sentence)) sentences.push(sentence)
    timer ??= setTimeout(() => {
      root.textContent = sentences.slice(-5).join(' ')
      sentences = []
      timer = undefined
    }, GATHER)
  }

  function progress(fraction: number, sentence: () => string): void {
    // From the beginning, or again from there.
    if (fraction < spoken.fraction) spoken = { at: Date.now(), fraction }
    if (fraction - spoken.fraction < STEP || Date.now() - spoken.at < BETWEEN) return
    spoken = { at: Date.now(), fraction }
    say(sentence())
  }
  return { root, say, progress }
}
