/** Values that should be rejected by every field, or by all fields except the matching one. */

/** JSON texts that `JSON.stringify` never produces. They are inserted into its output afterwards. */
const RAW = [
  '1e400',
  '-1e400',
  '-0',
  '1e-400',
  '0.1e1',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{"a":1}}}',
]
const raw = (text: string) => `\u0001raw:${text}\u0001`
export const toJson = (value: unknown) =>
  JSON.stringify(value).replace(/"\\u0001raw:((?:[^"\\]|\\.)*)\\u0001"/g, (_, text: string) => JSON.parse(`"${text}"`))

const nested = (depth: number) => raw('['.repeat(depth) + ']'.repeat(depth))
const nestedObject = (depth: number) => raw('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))

const UUID = '00000000-0000-4000-8000-000000000001'
export const HOSTILE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  Number.MAX_VALUE,
  Number.MIN_VALUE,
  '',
  ' ',
  'a',
  '0',
  'NaN',
  'null',
  'true',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udfff',
  '\u202e',
  '\ufeff',
  '💿'.repeat(9),
  'a'.repeat(256),
  'a'.repeat(5000),
  '😀'.repeat(128),
  'é'.repeat(255),
  "'; drop table tracks; --",
  '%00',
  '../../etc',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '$.a',
  '#GGGGGG',
  '#12345',
  '#1234567',
  'red',
  '#ABCDEF\n',
  UUID.slice(1),
  `${UUID}0`,
  UUID.replaceAll('-', ''),
  `{${UUID}}`,
  UUID.replace('4000', '0000'),
  UUID.toUpperCase(),
  '2020-01-01',
  '2099-13-01T00:00:00Z',
  '2099-02-30T00:00:00Z',
  '9999-12-31T23:59:59-23:59',
  '0000-01-01T00:00:00Z',
  '2099-01-01T00:00Z',
  '2099-01-01T00:00:00.123456789Z',
  '2099-01-01T24:00:00Z',
  'server',
  'player',
  'https://a.b/c',
  [],
  [[]],
  [null],
  [1],
  ['a'],
  [UUID],
  [UUID, UUID],
  ['#123456'],
  ['mp3-128'],
  Array(21).fill('mp3-128'),
  Array(13).fill('#123456'),
  {},
  { a: 1 },
  { length: 3 },
  { 0: 'a' },
  { '': '' },
  { 'a.b': [{}] },
  nested(6),
  nestedObject(5),
  nestedObject(6),
  { a: nested(4) },
  { a: '\ud800', '\udc00': 1 },
  ...RAW.map(raw),
]

/** Values that take some time to send, so each field of an operation gets only one of them. */
export const HEAVY: unknown[] = [Array(1001).fill(UUID), { a: 'x'.repeat(17_000) }, nested(5000), nestedObject(3000)]
HEAVY.push(Array(5000).fill(null), 'a'.repeat(60_000))

/** Texts that almost match a format, or only just match it. */
export const FORMATS: Record<string, string[]> = {
  'date-time': [
    '2020-01-01',
    '2099-13-01T00:00:00Z',
    '2099-02-30T00:00:00Z',
    '2099-01-01T24:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2099-01-01T00:00Z',
    '2099-01-01T00:00:00.123456789Z',
    '+275760-09-13T00:00:00Z',
  ],
  uuid: [UUID.slice(1), `${UUID}0`, UUID.replaceAll('-', ''), `{${UUID}}`, UUID.replace('4000', '0000'), `${UUID}\n`],
}

export const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  'Title',
  ' title',
  'id',
  'ok',
  '0',
  'a.b',
]
KEYS.push('organization_id', 'api_request_id', 'k'.repeat(3000), '\u0000', '\ud800')

/** Texts that are not JSON. */
export const BROKEN_JSON = [
  '{',
  '}',
  '{"a":}',
  "{'a':1}",
  '{"a":1,}',
  'undefined',
  'NaN',
  '[1',
  '\u0000',
  '{"a":"\u0001"}',
  '{}{}',
]
