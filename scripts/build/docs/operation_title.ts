/** The title and the page of an operation. */

const slugOf = (tag: string) => tag.toLowerCase().replaceAll(' ', '-')
export const pageOfTag = (tag: string) => `/docs/api/${slugOf(tag)}`

/** The summary up to its first detail is the title; the whole summary is shown below if it says more. */
export const titleOf = (summary: string) =>
  summary.split(/[;:] | \(|\. |, (?=or |and |newest|oldest|in |signed|with|up to|at most|first what)/)[0]!
