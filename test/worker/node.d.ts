/** The few types of Node and Vite that the tests use. The complete types of Node would hide the differences between Node and workerd. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    run<R>(store: T, callback: () => R): R
    getStore(): T | undefined
  }
}
/** Vite imports a file as text when its path ends with `?raw`. */
declare module '*?raw' {
  const text: string
  export default text
}
