import { ENVELOPE } from './contract_keys.ts'

/** Calls to the operations of the system, for contract_cases.ts. */
export const systemCases = {
  getSystem: {
    keys: {
      '': `${ENVELOPE} system`,
      system:
        'failing missing database transcoder jobs failures last_sweep_at last_sweep last_event_at media listening',
      'system.database': 'answers bytes fraction limit metadata_fraction milliseconds',
      'system.transcoder': 'answers slots busy',
    },
  },
  retryFailedTracks: { body: () => ({}), keys: { '': `${ENVELOPE} started left` } },
}
