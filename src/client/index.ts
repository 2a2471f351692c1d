export {
  type Client,
  type ClientOptions,
  createClient,
  isFinal,
  type ListPath,
  pages,
  type Result,
  uploadFile,
  type UploadFileOptions,
  waitForTrack,
  type WaitOptions,
} from './client.ts'
export type { Failure } from './retry.ts'
export type { TonearmEvent } from '../contract/event.ts'
export { type VerifiedWebhook, verifyWebhook, type WebhookFault, type WebhookRequest } from './webhook.ts'
