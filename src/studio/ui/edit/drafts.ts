/** A text that was typed and is not saved yet, and the value that it replaces. */
export interface Draft {
  text: string
  base: string
}

const STORED = 'tonearm.drafts'
const drafts = new Map<string, Draft>(JSON.parse(globalThis.sessionStorage?.getItem(STORED) ?? '[]'))

/** Keeps a draft in the session storage; null removes it. */
export function keepDraft(key: string, draft: Draft | null): void {
  if (draft) drafts.set(key, draft)
  else if (!drafts.delete(key)) return
  sessionStorage.setItem(STORED, JSON.stringify([...drafts]))
}

export const draftOf = (key: string) => drafts.get(key)

/** Forgets all drafts when the user signs out. They are kept if the key was revoked, and saved with the next key. */
export function forgetDrafts(): void {
  drafts.clear()
  sessionStorage.removeItem(STORED)
}
