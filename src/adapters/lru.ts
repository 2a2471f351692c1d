interface Entry<T> {
  value: T
  organization_id: string
  bytes: number
  until: number
}

/**
 * What an isolate remembers for a while, the last used at the end. Bounded in number and in bytes, so that however many things are
 * asked for, those that nobody asks for again go.
 */
export function createLru<T>(most: { entries: number; bytes: number }) {
  const entries = new Map<string, Entry<T>>()
  let bytes = 0

  function drop(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    get(key: string, now: number): T | undefined {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.until <= now) {
        drop(key)
        return undefined
      }
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    /** `until` in milliseconds since 1970. */
    set(key: string, value: T, entry: Omit<Entry<T>, 'value'>): void {
      drop(key)
      if (entry.bytes > most.bytes / 8) return
      entries.set(key, { value, ...entry })
      bytes += entry.bytes
      for (const oldest of entries.keys()) {
        if (entries.size <= most.entries && bytes <= most.bytes) return
        drop(oldest)
      }
    },
    forget(organization_id: string): void {
      for (const [key, entry] of entries) if (entry.organization_id === organization_id) drop(key)
    },
    size: () => ({ entries: entries.size, bytes }),
  }
}
