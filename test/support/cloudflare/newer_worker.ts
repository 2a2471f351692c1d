/** A later version of the Worker without code, with another class. */

export * from './empty_worker.ts'
export { default } from './empty_worker.ts'
export const Rooms = Object
