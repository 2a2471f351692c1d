import { go } from '../base/route.ts'
import { t } from '../base/text.ts'
import { prefer } from '../data/preferences.ts'
import type { IconName } from '../ui/controls/icon.tsx'
import { PAGES } from './navigation.tsx'

/** An action of the studio that can be searched for by its name. */
export interface Command {
  label: string
  icon: IconName
  /** The key that runs it, without a field being focused. */
  key?: string
  run: () => unknown
}

/** The actions that belong to the shell. */
export interface Actions {
  search: () => void
  newCollection: () => void
  upload: () => void
  showShortcuts: () => void
  signOut: () => void
}

/** Returns all commands: the actions, and the pages. */
export const commandsOf = ({ newCollection, upload, showShortcuts, signOut }: Actions): Command[] => [
  { label: t('Upload files'), icon: 'upload', key: 'U', run: upload },
  { label: t('New collection'), icon: 'plus', key: 'N', run: newCollection },
  ...PAGES.map(({ page, label, icon }) => ({ label: t(label), icon, run: () => go(page) })),
  { label: t('API reference'), icon: 'external', run: () => open('/docs', '_blank') },
  { label: t('Light theme'), icon: 'settings', run: () => prefer({ theme: 'light' }) },
  { label: t('Dark theme'), icon: 'settings', run: () => prefer({ theme: 'dark' }) },
  { label: t('Keyboard shortcuts'), icon: 'settings', key: '?', run: showShortcuts },
  { label: t('Sign out'), icon: 'close', run: signOut },
]

const fold = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Returns the commands with a word that starts with each of the words. */
export function findCommands(commands: readonly Command[], words: string): Command[] {
  const wanted = fold(words).split(/\s+/).filter(Boolean)
  return commands.filter(({ label }) => {
    const parts = fold(label).split(/\s+/)
    return wanted.every((word) => parts.some((part) => part.startsWith(word)))
  })
}

/** Letters from which on words can be the name of a command. */
const NAMED = 3

/** Whether the name of a command starts with the words. */
export const startsName = (label: string, words: string) => {
  const wanted = fold(words.trim())
  return wanted.length >= NAMED && fold(label).startsWith(wanted)
}

/** Returns how well a title matches words: 0 if it is the same, 1 if it starts with them, 2 if one of its words does, else 3. */
export function rankOf(title: string, words: string): number {
  const [folded, wanted] = [fold(title), fold(words.trim())]
  if (folded === wanted) return 0
  if (folded.startsWith(wanted)) return 1
  return folded.split(/\s+/).some((word) => word.startsWith(wanted)) ? 2 : 3
}
