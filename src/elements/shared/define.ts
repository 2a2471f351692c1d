/** Registers an element unless the page knows it already: two bundles may both contain it. */
export function define(tag: string, element: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, element)
}
