/** The entry `@tonearm/client`; scripts/pack.ts adds the types of all that the service answers. */
export * from '../../src/client/index.ts'
