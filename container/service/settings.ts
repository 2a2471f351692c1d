import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as z from 'zod'

import { DOWNLOAD_LIMITS } from '../transfer/download.ts'

/** docs/settings.md is generated from these descriptions. */
export const Environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(8080).describe('where it listens'),
  HOST: z.string().min(1).default('127.0.0.1').describe('the address it listens on; the image sets `0.0.0.0`'),
  TRANSCODER_SECRET: z
    .string()
    .optional()
    .describe('the same as the secret of the Worker; needed wherever others than this machine reach it'),
  WORK_DIR: z
    .string()
    .min(1)
    .optional()
    .describe("where jobs keep their files; else a folder in the system's temporary directory"),
  FFMPEG_PATH: z.string().optional().describe("which ffmpeg to use; else the PATH's, else npm's"),
  FFPROBE_PATH: z.string().optional().describe('which ffprobe to use; else likewise'),
  PARENT_PID: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe('a process id: the transcoder ends when that process does'),
  FFMPEG_TIMEOUT: z.coerce
    .number()
    .positive()
    .optional()
    .describe('seconds that one ffmpeg process may take; else 120 and twice the audio decoded so far'),
  GRACE_SECONDS: z.coerce
    .number()
    .min(0)
    .default(10)
    .describe('seconds that a running job gets to finish after SIGTERM; a Cloudflare Container may take 15 minutes'),
  LINGER_SECONDS: z.coerce
    .number()
    .min(0)
    .default(60)
    .describe('seconds after its last job that a stopping transcoder keeps what nobody has fetched'),
  SOURCE_STALL_SECONDS: z.coerce
    .number()
    .positive()
    .default(DOWNLOAD_LIMITS.stallSeconds)
    .describe('seconds without a byte after which a connection to a source counts as dead'),
  SOURCE_LEAST_RATE: z.coerce
    .number()
    .min(0)
    .default(DOWNLOAD_LIMITS.leastRate)
    .describe('bytes per second that a source must bring on average …'),
  SOURCE_RATE_SECONDS: z.coerce
    .number()
    .positive()
    .default(DOWNLOAD_LIMITS.rateSeconds)
    .describe('… in every stretch of so many seconds'),
})

const LOOPBACK = /^(localhost|::1|127\.\d+\.\d+\.\d+)$/

/** Reads the settings from environment variables and applies defaults. */
export function readSettings(environment: NodeJS.ProcessEnv) {
  const nonEmpty = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const { data: env, error } = Environment.safeParse(nonEmpty)
  if (!env) throw new Error(z.prettifyError(error))
  if (!env.TRANSCODER_SECRET && !LOOPBACK.test(env.HOST)) {
    throw new Error(`TRANSCODER_SECRET is not set, but other machines can reach ${env.HOST}: set it, or HOST=127.0.0.1`)
  }
  return {
    port: env.PORT,
    host: env.HOST,
    secret: env.TRANSCODER_SECRET,
    workDir: env.WORK_DIR ?? join(tmpdir(), `tonearm-${env.PORT || process.pid}`),
    ffmpegPath: env.FFMPEG_PATH,
    ffprobePath: env.FFPROBE_PATH,
    parentPid: env.PARENT_PID,
    timeoutSeconds: env.FFMPEG_TIMEOUT,
    graceMs: env.GRACE_SECONDS * 1000,
    lingerMs: env.LINGER_SECONDS * 1000,
    limits: {
      stallSeconds: env.SOURCE_STALL_SECONDS,
      leastRate: env.SOURCE_LEAST_RATE,
      rateSeconds: env.SOURCE_RATE_SECONDS,
    },
  }
}
