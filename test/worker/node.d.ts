/** The few types of Node and Vite that the tests use: all of their types would hide where workerd differs. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    run<R>(store: T, callback: () => R): R
    getStore(): T | undefined
  }
}
/** Vite's way to read a file. */
declare module '*?raw' {
  const text: string
  export default text
}
