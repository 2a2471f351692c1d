import { chmodSync, statSync } from 'node:fs'

/**
 * Takes the permissions for a file or directory from other users, except those in `kept`. Does nothing if another user owns it, or if it is meant for
 * all users, like /tmp (sticky bit).
 */
export function keepPrivate(path: string, kept = 0): void {
  const { mode, uid } = statSync(path)
  if (uid === process.getuid?.() && (mode & 0o1000) === 0) chmodSync(path, mode & (0o7700 | kept))
}
