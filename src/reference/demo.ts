/** The live elements in guides. The script of an element is loaded when its demo is near the visible part of the page. */
export function startDemos(): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue
        observer.unobserve(target)
        void import(`/elements/${(target as HTMLElement).dataset.element}.js`)
      }
    },
    { rootMargin: '200px' },
  )
  for (const demo of document.querySelectorAll('.demo')) observer.observe(demo)
  // The URLs in a play session are absolute.
  for (const data of document.querySelectorAll('.demo script'))
    data.textContent = data.textContent.replaceAll('"url":"/', `"url":"${location.origin}/`)
}
