import { expect, it } from 'vitest'

import { textOf } from '../../src/http/pages/share_text.ts'

const show = (text: string) =>
  textOf(text)
    .map(({ html }) => html.replaceAll(/\s*<\/?p>\s*/g, ''))
    .join('|')

// If the time grew with the square of the length, each of these would take minutes instead of milliseconds.
it.each(['[', '[a](http://', '**', '*a ', '[a](http://x(y)', '(', '\n ', '\n \n ', ' '])(
  'the text of a share takes linear time: %j repeated',
  (part) => {
    const length = 600_000
    expect(show(part.repeat(length / part.length)).length).toBeLessThan(10 * length)
  },
  30_000,
)

it('the text of a share may contain brackets, and links whose URLs contain pairs of parentheses', () => {
  expect(show('[1] [[a] [b](https://a.example/B_(c)) (d)')).toBe(
    '[1] [[a] <a href="https://a.example/B_(c)" target="_blank" rel="nofollow noopener noreferrer">b</a> (d)',
  )
})
