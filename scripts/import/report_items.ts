import { progressPrinter } from '../backup/service.ts'
import { withoutSecrets } from '../shared/terminal.ts'
import type { Plan } from './plan.ts'

/** Counts the items of an import and prints them. */
export class Report {
  taken = 0
  skipped = 0
  refused = 0
  /** Items that were imported without a part. */
  partial = 0
  /** Tracks that the service is fetching or processing. */
  running = 0
  readonly #total: number
  readonly #progress = progressPrinter()

  constructor({ tracks, refused }: Plan) {
    this.#total = tracks.length + refused.length
    for (const { label, reason } of refused) this.refuse(label, reason)
  }

  refuse(label: string, reason: string): void {
    this.refused++
    console.log(withoutSecrets(`refused  ${label}: ${reason}`))
  }

  /** Prints a fault that does not prevent an import. A part that is missing counts as refused in the exit code. */
  note(label: string, note: string, isPartial = false): void {
    if (isPartial) this.partial++
    console.log(withoutSecrets(`note     ${label}: ${note}`))
  }

  progress(): void {
    this.#progress(() => `${this.#counts()}, ${this.running} in progress, of ${this.#total}`)
  }

  #counts = () => `${this.taken} taken, ${this.skipped} skipped, ${this.refused} refused`

  /** Prints the result, and sets the exit code: 1 if an item or a part of one was refused. */
  end(isStopped: boolean, isDryRun: boolean): void {
    const parts = this.partial > 0 ? `, ${this.partial} without a part (see the notes)` : ''
    console.log(`\n${isDryRun ? 'would be: ' : ''}${this.#counts()}${parts}, of ${this.#total}`)
    if (isStopped)
      console.log(
        'Stopped. The service continues with the tracks that exist; run the same command again for the others.',
      )
    if (this.refused + this.partial > 0 || isStopped) process.exitCode = 1
  }
}
