/** Sets again what a page has set before the element was defined: until then such properties hide the accessors of its class. */
export function upgradeProperties(host: HTMLElement): void {
  for (const name of Object.keys(host)) {
    if (!(name in Object.getPrototypeOf(host))) continue
    const value: unknown = Reflect.get(host, name)
    Reflect.deleteProperty(host, name)
    Reflect.set(host, name, value)
  }
}
