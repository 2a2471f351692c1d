import type { OperationName } from '../../src/contract/index.ts'

/** Descriptions of fields in the API reference. They are not in the contract, because the Worker would contain them too. */

type Texts = Record<string, string>

const DAYS: Texts = {
  from: 'The first day, in UTC. By default, 29 days before `to`.',
  to: 'The last day, in UTC. By default, today.',
}

const COUNTS: Texts = {
  plays: 'Listens in which 30 seconds were heard, or half of the track if it is shorter than a minute.',
  visits: 'How many times a player on a page was used.',
  seconds: 'Seconds of the recording that were heard. A part that was heard twice counts twice.',
  completions: 'Listens in which 90 % of the track was heard.',
  downloads: 'Downloads of files and ZIPs, without those by known bots.',
  muted_seconds: 'Seconds of the recording that played muted. They are not in `seconds`.',
  fast_seconds: 'Those of `seconds` that were played faster than recorded.',
}

/** The texts of an operation, an event, or a named schema. They apply to all of its fields with this name. */
export const FIELD_TEXTS: { [name in OperationName | 'ListeningCounts' | 'StatsDayEvent']?: Texts } = {
  reportHeard: {
    token: '`heard_token` in the response of `POST /v1/play_session/{scope}` or `GET /v1/play/{play_session_id}`.',
    visit: '16 random lower-case hexadecimal digits: new for each visit, and the same in all of its reports.',
    sequence:
      '1 in the first report of a visit, then increasing. A report that is not newer than the last one is ignored.',
    age: 'Seconds since the start of the visit, by a clock that is never set back.',
    first:
      'The index in the visit of the first of `listens`; 0 in a new visit. All earlier ones are finished and acknowledged.',
    source: 'The host name of the page, or of the page around a frame. Apps send their name.',
    listens: 'The whole state of each listen, not what is new since the last report.',
    track: 'The id of the track.',
    ranges:
      'The parts of the track that were heard at least once, each as `[start, end]` in seconds, in order and without overlaps.',
    again: 'The parts of `ranges` that were heard at least twice.',
    muted: 'Seconds of the track that played muted. They are not in `ranges`.',
    fast: 'Those seconds of `ranges` and `again` that played faster than recorded.',
  },
  ListeningCounts: COUNTS,
  StatsDayEvent: {
    ...COUNTS,
    date: 'The day that is over, in UTC.',
    refused: 'How many reports of players were not counted.',
  },
  getStats: {
    ...DAYS,
    ...COUNTS,
    resource_id: 'The id of the organization, collection, track, playlist or share.',
    totals: 'The sums of all days.',
    rows: 'Every day, or the countries or sources with the most plays first.',
    key: 'The day, the code of the country (ISO 3166-1), or the source. Null for everything else: countries with fewer than five visits, unknown countries and sources, and sources after the first 100.',
    refused: 'Only for the organization: the reports that were not counted, by reason.',
    reason: 'One of the reasons in the guide Counting.',
  },
  getTopStats: {
    ...DAYS,
    ...COUNTS,
    rows: 'The resources with plays, those with the most first.',
    title: 'Null if the resource was deleted.',
    artwork: 'Only if `include` is `artwork`. Shares have no artwork.',
  },
  getRetention: {
    ...DAYS,
    duration: 'The length of the track in seconds.',
    step: 'The length of a step of the curve in seconds: 1, or a thousandth of the track if that is longer.',
    visits: 'The visits that heard the current recording.',
    heard: 'For each step, the visits that heard it.',
    times: 'For each step, how often it was heard.',
  },
  getProgress: {
    listener: 'Your pseudonym for the listener, as in `POST /v1/play_session/{scope}`.',
    track_id: 'The id of the track.',
    tracks: 'The tracks that were heard in sessions with this `listener`, the last one first.',
    duration: 'The length in seconds of the recording that was heard.',
    ranges: 'The parts that were heard, each as `[start, end]` in seconds.',
    heard: 'The fraction of the track that was heard, from 0 to 1.',
    position: 'The second from which to resume; 0 if it is in the last three seconds.',
    updated_at: 'When the progress was last changed by a report.',
  },
  deleteProgress: { listener: 'Your pseudonym for the listener, as in `POST /v1/play_session/{scope}`.' },
}
