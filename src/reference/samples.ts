/** Blocks of code: tabs for languages, buttons that copy, and the address of this service. */

const STORED = 'tonearm.docs.language'

/** Shows a language in all blocks that have it. */
function showLanguage(language: string): void {
  for (const sample of document.querySelectorAll('.sample')) {
    const buttons = [...sample.querySelectorAll<HTMLElement>('button[data-language]')]
    if (!buttons.some((button) => button.dataset.language === language)) continue
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.language === language))
    for (const block of sample.querySelectorAll('pre')) block.hidden = block.dataset.language !== language
  }
}

async function copy(button: HTMLElement): Promise<void> {
  const text = button.closest('.sample')?.querySelector('pre:not([hidden])')?.textContent ?? ''
  const done = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
  button.textContent = done ? 'Copied' : 'Not copied'
  setTimeout(() => (button.textContent = 'Copy'), 2000)
}

/** Marks blocks whose lines go on at the right, so that they fade out there. */
function startFades(): void {
  const mark = (block: Element) =>
    block.classList.toggle('cut', block.scrollWidth - block.clientWidth - Math.abs(block.scrollLeft) > 1)
  const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => mark(target)))
  for (const block of document.querySelectorAll('.sample pre, .scroll')) observer.observe(block)
  document.addEventListener(
    'scroll',
    ({ target }) => target instanceof Element && target.matches('.sample pre, .scroll') && mark(target),
    { capture: true, passive: true },
  )
}

export function startSamples(): void {
  startFades()
  for (const origin of document.querySelectorAll('.origin')) origin.textContent = location.origin
  const stored = localStorage.getItem(STORED)
  if (stored) showLanguage(stored)
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('.sample button') : null
    if (!button) return
    const { language } = button.dataset
    if (!language) return void copy(button)
    // The block stays in its place, although blocks above it may get another height.
    const before = button.getBoundingClientRect().top
    showLanguage(language)
    scrollBy({ top: button.getBoundingClientRect().top - before, behavior: 'instant' })
    localStorage.setItem(STORED, language)
  })
}
