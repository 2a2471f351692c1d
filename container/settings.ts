import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as z from 'zod'

import { PATIENCE } from './download.ts'

const Environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(8080),
  HOST: z.string().min(1).default('127.0.0.1'),
  TRANSCODER_SECRET: z.string().optional(),
  WORK_DIR: z.string().min(1).optional(),
  FFMPEG_PATH: z.string().optional(),
  FFPROBE_PATH: z.string().optional(),
  PARENT_PID: z.coerce.number().int().positive().optional(),
  /** Wall-clock seconds one ffmpeg process may take; without it the limit follows from the duration. */
  FFMPEG_TIMEOUT: z.coerce.number().positive().optional(),
  /** Seconds that a running job gets to finish after SIGTERM; a Cloudflare Container may take 15 minutes. */
  GRACE_SECONDS: z.coerce.number().min(0).default(10),
  /** Seconds without a byte after which a connection to a source counts as dead. */
  SOURCE_STALL_SECONDS: z.coerce.number().positive().default(PATIENCE.stallSeconds),
  /** Bytes per second that a source must bring on average in every stretch of SOURCE_RATE_SECONDS. */
  SOURCE_LEAST_RATE: z.coerce.number().min(0).default(PATIENCE.leastRate),
  SOURCE_RATE_SECONDS: z.coerce.number().positive().default(PATIENCE.rateSeconds),
})

/** Reads the settings from environment variables, with their defaults. */
export function readSettings(environment: NodeJS.ProcessEnv) {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const env = Environment.parse(set)
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
    patience: {
      stallSeconds: env.SOURCE_STALL_SECONDS,
      leastRate: env.SOURCE_LEAST_RATE,
      rateSeconds: env.SOURCE_RATE_SECONDS,
    },
  }
}
