import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as z from 'zod'

import { DOWNLOAD_LIMITS } from '../transfer/download.ts'

/** Environment variables of the service. docs/settings.md is generated from these descriptions. */
export const Environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(8080).describe('port to listen on'),
  HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on; the image sets `0.0.0.0`'),
  TRANSCODER_SECRET: z
    .string()
    .optional()
    .describe("equals the Worker's secret; required if other machines can reach the transcoder"),
  WORK_DIR: z
    .string()
    .min(1)
    .optional()
    .describe("directory for the jobs' files; default: a folder in the system's temporary directory"),
  FFMPEG_PATH: z.string().optional().describe('path of ffmpeg; default: on the PATH, or from npm'),
  FFPROBE_PATH: z.string().optional().describe('path of ffprobe; default: next to ffmpeg, on the PATH, or from npm'),
  PARENT_PID: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe('process id; the transcoder exits when this process does'),
  FFMPEG_TIMEOUT: z.coerce
    .number()
    .positive()
    .optional()
    .describe('seconds allowed per ffmpeg process; default: 120 plus twice the audio decoded so far'),
  SLOT_SECONDS: z
    .string()
    .regex(/^\d+,\d+$/)
    .default('3600,600')
    .describe(
      'maximum seconds of audio in the slots for files of at most 20 MB and 2 MB; longer audio uses the slot for large files',
    ),
  GRACE_SECONDS: z.coerce
    .number()
    .min(0)
    .default(10)
    .describe('seconds for a running job to finish after SIGTERM; a Cloudflare Container may take 15 minutes'),
  LINGER_SECONDS: z.coerce
    .number()
    .min(0)
    .default(60)
    .describe('seconds that a stopping transcoder keeps unfetched results after its last job'),
  SOURCE_STALL_SECONDS: z.coerce
    .number()
    .positive()
    .default(DOWNLOAD_LIMITS.stallSeconds)
    .describe('seconds without a byte after which a connection to a source counts as dead'),
  SOURCE_LEAST_RATE: z.coerce
    .number()
    .min(0)
    .default(DOWNLOAD_LIMITS.leastRate)
    .describe('minimum average bytes per second from a source …'),
  SOURCE_RATE_SECONDS: z.coerce
    .number()
    .positive()
    .default(DOWNLOAD_LIMITS.rateSeconds)
    .describe('… measured over this many seconds'),
  SOURCE_TOTAL_SECONDS: z.coerce
    .number()
    .positive()
    .default(3600)
    .describe('seconds allowed for fetching a `source_url`'),
  SOURCE_LOCAL: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true` lets a `source_url` begin with http://127.0.0.1, as `npm start` does; never in production'),
  SOURCE_CLOSED_PORTS: z
    .string()
    .regex(/^(\d+(,\d+)*)?$/)
    .default('')
    .describe('ports of 127.0.0.1 that are refused nevertheless, with commas in between; the own port always is'),
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
    slotSeconds: [Infinity, ...env.SLOT_SECONDS.split(',').map(Number)],
    graceMs: env.GRACE_SECONDS * 1000,
    lingerMs: env.LINGER_SECONDS * 1000,
    limits: {
      stallSeconds: env.SOURCE_STALL_SECONDS,
      leastRate: env.SOURCE_LEAST_RATE,
      rateSeconds: env.SOURCE_RATE_SECONDS,
      totalSeconds: env.SOURCE_TOTAL_SECONDS,
    },
    closedPorts: env.SOURCE_LOCAL === 'true' ? [env.PORT, ...env.SOURCE_CLOSED_PORTS.split(',').map(Number)] : null,
  }
}
