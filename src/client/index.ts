export { type Client, type ClientOptions, createClient } from './client.ts'
export type { Failure, Result } from './types.ts'
export { uploadFile, type UploadOptions } from './upload.ts'
export { isFinal, waitForTrack, type WaitOptions } from './wait.ts'
