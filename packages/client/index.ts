/** The entry point `@tonearm/client`. scripts/pack.ts adds the types of the service's responses. */
export * from '../../src/client/index.ts'
export { uploadFile } from './upload_file.ts'
