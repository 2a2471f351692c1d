/** The navigation: a menu on narrow windows, and the mark of the section that is on the screen. */

function startMenu(): void {
  const button = document.querySelector('#menu-button')!
  const side = document.querySelector('#navigation')!
  function toggle(open: boolean): void {
    side.classList.toggle('open', open)
    button.ariaExpanded = String(open)
  }
  button.addEventListener('click', () => toggle(!side.classList.contains('open')))
  side.addEventListener('click', ({ target }) => target instanceof Element && target.closest('a') && toggle(false))
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && toggle(false))
  const current = side.querySelector<HTMLElement>('[aria-current]')
  if (current) side.scrollTop = Math.max(0, current.offsetTop - 120)
}

/** Marks the link to the section that the reader sees. */
function startSections(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.side ul ul a, .contents a')].map((link) => [
      link.hash.slice(1),
      link,
    ]),
  )
  const observer = new IntersectionObserver(
    (entries) => {
      const seen = entries.find(({ isIntersecting }) => isIntersecting)
      if (!seen) return
      for (const [id, link] of links) link.classList.toggle('seen', id === seen.target.id)
    },
    { rootMargin: '-80px 0px -70% 0px' },
  )
  for (const id of links.keys()) {
    const section = document.getElementById(decodeURIComponent(id))
    if (section) observer.observe(section)
  }
}

export function startNavigation(): void {
  startMenu()
  startSections()
}
