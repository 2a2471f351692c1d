type Child = Node | string | null | undefined | false
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
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false))
  return made
}

/** Sets and removes attributes by the same rule as `element`. */
export function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) target.removeAttribute(name)
    else target.setAttribute(name, value === true ? '' : String(value))
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
