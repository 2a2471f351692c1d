import type { Result } from './result.ts'

type Setting = { ffmpeg: string; node: string; cores: number; source: string }

/** Formats the results as text that fits a terminal. */
export function table(setting: Setting, results: Result[]): string {
  const { ffmpeg, node, cores, source } = setting
  return [
    `ffmpeg ${ffmpeg}, Node ${node}, ${cores} cores, ${source} source, download and upload included`,
    '',
    columns([
      ['', ...results.map(({ minutes }) => `${minutes} min`)],
      row('rounds (medians follow)', (r) => String(r.rounds.length)),
      row('service, s', (r) => r.service.wall.toFixed(2)),
      row('sequence, s', (r) => r.sequence.wall.toFixed(2)),
      row('limit, s', (r) => r.limit.toFixed(2)),
      row('times faster than the sequence', (r) => r.speedup.toFixed(2)),
      row('times slower than the limit', (r) => r.over_limit.toFixed(2)),
      row('times real time', (r) => ((r.minutes * 60) / r.service.wall).toFixed(1)),
      row('cores used by the service', (r) => (r.service.cpu / r.service.wall).toFixed(2)),
      row('service, CPU s', (r) => r.service.cpu.toFixed(2)),
      row('sequence, CPU s', (r) => r.sequence.cpu.toFixed(2)),
      row('peak memory of Node, MB', (r) => megabytes(r.service.memory)),
      row('peak memory of ffmpeg, MB', (r) => megabytes(r.service.ffmpeg_memory)),
      row('peak disk, MB', (r) => megabytes(r.service.disk)),
      row('machine used by others, %', (r) => (r.noise * 100).toFixed(0)),
      [''],
      ['CPU s of one process alone'],
      ...Object.keys(results[0]!.costs.variants).map((index) =>
        row(`  ${index}`, (r) => r.costs.variants[index]!.toFixed(2)),
      ),
      row('  decoding only', (r) => r.costs.decoding.toFixed(2)),
    ]),
    ...growth(results),
    '',
    'limit: max(total CPU ÷ cores, slowest process), with the decoding counted once.',
    ...(results.some(({ noise }) => noise > 0.03) ? ['Other programs ran: do not quote these figures.'] : []),
  ].join('\n')

  function row(title: string, figure: (result: Result) => string): string[] {
    return [title, ...results.map(figure)]
  }
}

function growth(results: Result[]): string[] {
  const [first, last] = [results[0]!, results.at(-1)!]
  if (first === last) return []
  const longer = last.minutes / first.minutes
  const times = (figure: (result: Result) => number) => (figure(last) / figure(first)).toFixed(2)
  return [
    '',
    `${longer} times longer: time × ${times((r) => r.service.wall)}, memory of Node × ${times((r) => r.service.memory)}, ` +
      `of ffmpeg × ${times((r) => r.service.ffmpeg_memory)}`,
  ]
}

function columns(rows: string[][]): string {
  const width = Math.max(...rows.map(([title]) => title!.length))
  return rows
    .map(([title, ...cells]) => (title!.padEnd(width) + cells.map((cell) => cell.padStart(10)).join('')).trimEnd())
    .join('\n')
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
