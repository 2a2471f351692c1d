import type { Figure } from './figures.ts'

/** If other programs use more than this fraction of the machine, the ratios should not be quoted. */
const NOISE = 0.03

export const percent = (part: number) => `${(part * 100).toFixed(0)} %`

export const othersLine = (others: number) =>
  `machine used by others: ${percent(others)}${others > NOISE ? '\nOther programs ran: do not quote the times. Counts are exact.' : ''}`

/** Formats the figures as text that fits a terminal. */
export function table(figures: Figure[], others: number): string {
  const rows = [
    ['', '', 'goal', ''],
    ...figures.map(({ name, value, goal, met }) => [name, value, goal, goal === '' ? '' : met ? 'met' : 'MISSED']),
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]!.length)))
  const missed = figures.filter(({ met }) => !met).length
  return [
    '× is the median of ratios to plain Hono in the same round, with its 95 % interval',
    '',
    ...rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    ),
    '',
    missed === 0 ? 'Every goal is met.' : `${missed} of ${figures.length} goals are missed.`,
    othersLine(others),
  ].join('\n')
}
