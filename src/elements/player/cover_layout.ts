import { sheet } from '../shared/dom.ts'

/** Loads the style sheet of the layout `cover`, which most pages do not use. Until then, the player, whose root is `root`, is invisible. */
export async function loadCoverLayout(root: HTMLElement): Promise<void> {
  if (root.style.visibility) return
  root.style.visibility = 'hidden'
  const css = await import('./cover.css').catch(() => null)
  const { adoptedStyleSheets } = root.getRootNode() as ShadowRoot
  if (css) adoptedStyleSheets.push(sheet(css.default))
  root.style.visibility = 'inherit'
}
