import MiniSearch from 'minisearch'

/** The search over operations and guides. The index is made in the browser: the entries are smaller than an index of them. */

/** A part of a page that the search finds. */
export interface SearchEntry {
  kind: 'guide' | 'operation' | 'internal'
  title: string
  /** The page or tag that it belongs to. */
  page: string
  url: string
  text: string
  /** Words in the code of the section, each once. */
  code?: string
  /** Other words for the subject of the page. */
  words?: string
}

const MOST = 12
/** How many results one page may have, so that others are seen too. */
const MOST_OF_PAGE = 3
/** How much a word counts, by where it is found. */
const FIELDS = { title: 4, page: 2, words: 4, text: 1, code: 0.7 }
/** How much an entry counts. */
const KINDS = { guide: 3, operation: 1.5, internal: 0.3 }
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from get has have how i if in into is it its let many me my of on or own should that the their there this to use using via want was what when where which who why will with without you your'.split(
    ' ',
  ),
)

/** Returns a word without a plural `s`; null for a word that is not searched. */
function termOf(word: string): string | null {
  const term = word.toLowerCase()
  if (STOP_WORDS.has(term)) return null
  return term.length > 3 ? term.replace(/(?<![sui])s$/, '') : term
}

export interface Finder {
  /** Returns the entries for a query, best first. */
  find: (query: string) => SearchEntry[]
}

export function createFinder(entries: SearchEntry[]): Finder {
  const index = new MiniSearch<SearchEntry & { id: number }>({
    fields: Object.keys(FIELDS),
    processTerm: termOf,
    searchOptions: {
      boost: FIELDS,
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.2 },
      boostDocument: (id) => KINDS[entries[id as number]!.kind],
    },
  })
  index.addAll(entries.map((entry, id) => ({ ...entry, id })))

  function find(query: string): SearchEntry[] {
    const terms = new Set(query.split(/[\n\r\p{Z}\p{P}]+/u).flatMap((word) => (word && termOf(word)) || []))
    const counts = new Map<string, number>()
    return (
      index
        .search(query)
        // An entry with all words comes before those with one of them.
        .map(({ id, score, queryTerms }) => ({
          entry: entries[id as number]!,
          score: score * (queryTerms.length / terms.size) ** 2,
        }))
        .toSorted((a, b) => b.score - a.score)
        .map(({ entry }) => entry)
        .filter(({ url }) => {
          const page = url.split('#')[0]!
          counts.set(page, (counts.get(page) ?? 0) + 1)
          return counts.get(page)! <= MOST_OF_PAGE
        })
        .slice(0, MOST)
    )
  }
  return { find }
}
