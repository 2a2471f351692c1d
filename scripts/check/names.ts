import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** `node scripts/check/names.ts`: rejects declarations with invented names. docs/glossary.md lists the established terms. */

/** Each rejected name with its replacement. Ordinary words that also have another meaning (`line`, `turn`, `place`, `one`) are not listed. */
const REPLACEMENTS: Record<string, string> = {
  aShop: 'aTenant',
  among: 'inJsonList',
  answerAgain: 'serveCached',
  asked: 'the request or query',
  begun: 'started',
  createOthers: 'createService',
  giveBack: 'requeue',
  Held: 'LeasedJob',
  holds: 'isLeaseHolder',
  KeptAnswer: 'CachedResponse',
  lacks: 'isMissingVariants',
  lettered: 'appearance',
  lettering: 'labels',
  lineUp: 'enqueue',
  Looks: 'Appearance',
  mayReuse: 'allowCaching',
  mine: 'ownedByCaller',
  nudge: 'wake',
  steady: 'withRetries',
  tells: 'emitsEvents',
  told: 'notified',
  unseen: 'invisibleToListeners',
  waitingFor: 'queuePosition',
  whenEnded: 'ifJustEnded',
  whileHeld: 'ifLeaseHeld',
}

const files = execFileSync('git', ['ls-files', 'src', 'container', 'scripts', 'bench', 'test'], { encoding: 'utf8' })
const names = Object.keys(REPLACEMENTS).join('|')
const DECLARATION = new RegExp(
  `\\b(?:const|let|function\\*?|class|interface|type|enum)\\s+(${names})\\b|^\\s+(?:readonly |async )*(${names})\\??(?:: |\\()`,
  'gm',
)
let count = 0
for (const file of files.split('\n').filter((path) => /\.tsx?$/.test(path))) {
  const text = readFileSync(file, 'utf8')
  for (const match of text.matchAll(DECLARATION)) {
    const name = match[1] ?? match[2]!
    if (import.meta.filename.endsWith(file)) continue
    const line = text.slice(0, match.index + match[0].indexOf(name)).split('\n').length
    console.log(`${file}:${line}: ${name}: use ${REPLACEMENTS[name]}`)
    count++
  }
}
console.log(`${count} declarations with homemade names`)
process.exitCode = count === 0 ? 0 : 1
