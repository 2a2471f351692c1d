/** A style sheet for a shadow root. A Content-Security-Policy without 'unsafe-inline' blocks `<style>`, but not constructed sheets. */
export function sheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet()
  made.replaceSync(css)
  return made
}
