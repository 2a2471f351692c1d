type Child = Node | string | null | undefined | false
const isChild = (child: Child): child is Node | string => Boolean(child)
type Attributes = Record<string, string | number | boolean | null | undefined>

/**
 * Makes an element; `true` sets an empty attribute, and nothing, `null` or `false` sets none. Text goes in as text nodes only, so
 * nothing that a user typed can become markup, and no `style` attribute is set, which a strict Content-Security-Policy would refuse.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  setAttributes(made, attributes)
  made.append(...children.filter(isChild))
  return made
}

/** Sets and removes attributes by the same rule as `element`. */
export function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    const text = value === true ? '' : String(value)
    if ((value ?? false) === false) target.removeAttribute(name)
    // Writing the same value again would wake mutation observers.
    else if (target.getAttribute(name) !== text) target.setAttribute(name, text)
  }
}

/** A button with a label for screen readers and an icon or a text inside. */
export function button(part: string, onclick: () => void, ...children: Child[]): HTMLButtonElement {
  const made = element('button', { type: 'button', part, class: part.split(' ').at(-1) ?? '' }, ...children)
  made.addEventListener('click', onclick)
  return made
}

const SVG = 'http://www.w3.org/2000/svg'

/** A 24 × 24 icon from the data of one path; screen readers skip it. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  setAttributes(svg, { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' })
  const shape = document.createElementNS(SVG, 'path')
  shape.setAttribute('d', path)
  svg.append(shape)
  return svg
}

/** Writes text where it is another one. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text
}

/** Writes text of any direction; its alignment is the element's. */
export function setTitle(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.replaceChildren(...(text ? [element('bdi', {}, text)] : []))
}

/** Sets the name that screen readers say and a mouse shows, and another icon. */
export function setLabel(target: HTMLButtonElement, text: string, path?: string): void {
  setAttributes(target, { 'aria-label': text, title: text })
  if (path) setAttributes(target.querySelector('path')!, { d: path })
}

/** A style sheet for a shadow root. A Content-Security-Policy without 'unsafe-inline' blocks `<style>`, but not constructed sheets. */
export function sheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet()
  made.replaceSync(css)
  return made
}

/** Registers an element unless the page knows it already: two bundles may both contain it. */
export function define(tag: string, element: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, element)
}

/** Sets again what a page has set before the element was defined: until then such properties hide the accessors of its class. */
export function upgradeProperties(host: HTMLElement): void {
  for (const name of Object.keys(host)) {
    if (!(name in Object.getPrototypeOf(host))) continue
    const value: unknown = Reflect.get(host, name)
    Reflect.deleteProperty(host, name)
    Reflect.set(host, name, value)
  }
}
