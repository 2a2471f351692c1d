import { UploadItem } from './item.ts'
import { type Entry, fingerprintOf } from './ledger.ts'
import { abandonParts } from './parts.ts'
import type { UploadContext } from './session.ts'

/** Uploads that go on where they were, also after the page was left. */

/** The files that were on their way to this place when a page was left, and are not in the list. */
export async function findInterrupted(items: readonly UploadItem[], context: UploadContext): Promise<UploadItem[]> {
  const entries = await context.ledger.read()
  const isNew = (entry: Entry) => !items.some(({ fingerprint }) => fingerprint === entry.fingerprint)
  return entries.filter(isNew).map((entry) => {
    const item = new UploadItem(null, entry)
    item.state = 'interrupted'
    goOn(item, entry, context)
    return item
  })
}

/** A large file that was on its way once, as its fingerprint says, goes on where it was. */
export async function recall(item: UploadItem, file: File, context: UploadContext): Promise<void> {
  item.fingerprint = await fingerprintOf(file)
  const entries = await context.ledger.read()
  const entry = entries.find(({ fingerprint }) => fingerprint === item.fingerprint)
  if (entry && !item.target) goOn(item, entry, context)
}

function goOn(item: UploadItem, { key, fingerprint, target, parts }: Entry, { session }: UploadContext): void {
  Object.assign(item, { key, fingerprint, parts, target: { ...target, client: session().client } })
  item.sent = item.stored
}

/** Gives an interrupted item its file again. Whether it is the one. */
export async function takeAgain(item: UploadItem, file: File): Promise<boolean> {
  const isSame = (await fingerprintOf(file)) === item.fingerprint
  if (item.state !== 'interrupted') return false
  if (isSame) Object.assign(item, { file, state: 'queued', problem: null, checked: true })
  else item.problem = { code: 'other_file', message: '' }
  return isSame
}

/** Nothing of a file is kept, here or in storage. */
export async function abandon(item: UploadItem, { ledger }: UploadContext): Promise<void> {
  await ledger.forget(item)
  await abandonParts(item)
}
