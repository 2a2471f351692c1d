interface Entry<T> {
  value: T
  organization_id: string
  bytes: number
  until: number
}

/**
 * Creates a cache that evicts the entries that were used least recently. The numbers of entries and bytes are bounded. The order of the map is the
 * order of the last use.
 */
export function createLru<T>(max: { entries: number; bytes: number }) {
  const entries = new Map<string, Entry<T>>()
  let bytes = 0

  function drop(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  function evictIf(isEvicted: (entry: Entry<T>) => boolean): void {
    for (const [key, entry] of entries) if (isEvicted(entry)) drop(key)
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
    /** Adds an entry. `until` is the time when it expires, in milliseconds since 1970. */
    set(key: string, value: T, entry: Omit<Entry<T>, 'value'>): void {
      drop(key)
      if (entry.bytes > max.bytes / 8) return
      entries.set(key, { value, ...entry })
      bytes += entry.bytes
      for (const oldest of entries.keys()) {
        if (entries.size <= max.entries && bytes <= max.bytes) return
        drop(oldest)
      }
    },
    evict: (organization_id: string) => evictIf((entry) => entry.organization_id === organization_id),
    evictIf,
    size: () => ({ entries: entries.size, bytes }),
  }
}
