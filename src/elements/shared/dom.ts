type Child = Node | string | null | undefined | false
const isChild = (child: Child): child is Node | string => Boolean(child)
type Attributes = Record<string, string | number | boolean | null | undefined>

/**
 * Creates an element. The value `true` sets an empty attribute; `undefined`, `null` and `false` set none. Strings become text nodes, so
 * user input can never become markup. Do not pass `style`, because a strict Content-Security-Policy blocks it.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag)
  setAttributes(created, attributes)
  created.append(...children.filter(isChild))
  return created
}

/** Sets or removes attributes. Values have the same meaning as for `element`. */
export function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    const text = value === true ? '' : String(value)
    if ((value ?? false) === false) target.removeAttribute(name)
    // An unchanged value is not written, because that would trigger mutation observers.
    else if (target.getAttribute(name) !== text) target.setAttribute(name, text)
  }
}

/** Creates a button that contains an icon or a text. The last word of `part` is also its class. */
export function button(part: string, onclick: () => void, ...children: Child[]): HTMLButtonElement {
  const created = element('button', { type: 'button', part, class: part.split(' ').at(-1) ?? '' }, ...children)
  created.addEventListener('click', onclick)
  return created
}

const SVG = 'http://www.w3.org/2000/svg'

/** Creates a 24 × 24 icon from path data. The icon is hidden from screen readers. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  setAttributes(svg, { viewBox: '0 0 24 24', 'aria-hidden': 'true' })
  const shape = document.createElementNS(SVG, 'path')
  shape.setAttribute('d', path)
  svg.append(shape)
  return svg
}

/** Sets the text of an element, unless it has that text already. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text
}

/** Sets a text of any direction. The text is isolated in a `<bdi>`, so that it does not affect the alignment of the element. */
export function setTitle(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.replaceChildren(...(text ? [element('bdi', {}, text)] : []))
}

/** Sets the accessible name and the tooltip of a button, and optionally its icon. */
export function setLabel(target: HTMLButtonElement, text: string, path?: string): void {
  setAttributes(target, { 'aria-label': text, title: text })
  if (path) setAttributes(target.querySelector('path')!, { d: path })
}

/**
 * Creates a style sheet for a shadow root. A Content-Security-Policy without 'unsafe-inline' blocks `<style>`, but not constructed style sheets.
 */
export function sheet(css: string): CSSStyleSheet {
  const created = new CSSStyleSheet()
  created.replaceSync(css)
  return created
}

/** Registers an element unless it is already defined, because two bundles may contain the same element. */
export function define(tag: string, element: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, element)
}

/** Sets the properties again that a page set before the element was defined: until then, they hide the accessors of the element's class. */
export function upgradeProperties(host: HTMLElement): void {
  for (const name of Object.keys(host)) {
    if (!(name in Object.getPrototypeOf(host))) continue
    const value: unknown = Reflect.get(host, name)
    Reflect.deleteProperty(host, name)
    Reflect.set(host, name, value)
  }
}
