import type { Connection } from './connection.ts'
import type { EventDetails } from './events.ts'
import type { Description, Item, Problem } from './item.ts'
import type { Texts } from './texts.ts'

/** How the element's attributes and properties read now. */
export interface Settings {
  accept: string
  /** Bytes; null without a limit. */
  maxSize: number | null
  /** Files whose bytes travel at the same time. */
  atOnce: number
  /** Files wait for `start()`. */
  manual: boolean
  texts: Texts
  describe: (file: File) => Description
}

/** What the steps of an upload need of the element around them. */
export interface Host {
  settings: () => Settings
  connection: () => Connection
  /** Why nothing can be sent, as long as attributes are missing. */
  missing: () => Problem | null
  emit: <K extends keyof EventDetails>(name: K, detail: EventDetails[K]) => void
  /** A file, or (without one) the list, looks different now. */
  changed: (item?: Item) => void
}
