import { randomBytes } from 'node:crypto'
import path from 'node:path'

import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

import { muteExpected } from './test/support/muted_output.ts'
import { scratchDirectory } from './test/support/scratch_directory.ts'
import { WaitingFirst } from './test/support/sequencer.ts'

// Hides wrangler's warnings about experimental settings in wrangler.toml.
process.env.WRANGLER_LOG ??= 'error'
// A hundred Node processes load the same modules, mostly wrangler's and the transcoder's. The cache compiles them once.
process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, '.cache/node')
process.env.TMPDIR ??= scratchDirectory()
muteExpected()

const secret = () => randomBytes(16).toString('hex')

export default defineConfig({
  test: {
    // Many tests wait for a process, a lease or a queue, so two cores serve four files. Six take longer, because they slow each other down.
    maxWorkers: 4,
    sequence: { sequencer: WaitingFirst, groupOrder: 1 },
    silent: 'passed-only',
    globalSetup: ['./test/support/skipped.ts'],
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            remoteBindings: false,
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations(path.join(import.meta.dirname, 'drizzle')),
                ROOT_KEY: secret(),
                SIGNING_SECRET: secret(),
                TRANSCODER_SECRET: secret(),
                R2_ACCESS_KEY_ID: 'test-access-key',
                R2_SECRET_ACCESS_KEY: 'test-secret-key',
                PUBLIC_BASE_URL: '',
                S3_ENDPOINT: 'http://localhost:8787/cdn-cgi/local/r2/s3',
                TRANSCODER_URL: 'http://127.0.0.1:8788',
                MAX_UPLOAD_BYTES: '1000000',
                CHECK_ANSWERS: 'true',
                // Tests change rows directly in the database; cached_responses.test.ts covers the cache.
                REUSE_ANSWERS: 'false',
                REQUEST_LOG: 'false',
                WEBHOOK_LOCAL: 'true',
                SOURCE_LOCAL: 'true',
              },
              // An older state of the database, for test/worker/support/lagging_replica.ts.
              d1Databases: { REPLICA: 'tonearm-replica' },
              // No consumer: a test sends webhooks by passing on their message, so none are sent during another test.
              queueProducers: { WEBHOOK_QUEUE: { queueName: 'tonearm-unheard' } },
            },
          })),
        ],
        test: {
          name: 'worker',
          include: ['test/worker/**/*.test.ts'],
          setupFiles: ['./test/worker/support/setup.ts'],
          globalSetup: ['./test/support/receiver.ts'],
          isolate: false,
          // These tests never wait, and each process starts a workerd and compiles the Worker. vitest runs projects with another number of processes apart.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          // Only against hangs: a test of 15 s takes minutes on busy cores.
          testTimeout: 300_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          environment: 'node',
          testTimeout: 60_000,
        },
      },
      {
        test: { name: 'contract', include: ['test/contract/**/*.test.ts'], environment: 'node', testTimeout: 60_000 },
      },
      {
        test: {
          name: 'container',
          include: ['test/container/**/*.test.ts'],
          globalSetup: ['./test/support/transcoder_bundle.ts'],
          setupFiles: ['./test/support/show_logs.ts'],
          environment: 'node',
          isolate: false,
          testTimeout: 300_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          setupFiles: ['./test/support/show_logs.ts'],
          environment: 'node',
          isolate: false,
          // Only against hangs: on one core a long song waits until the Worker's tests finish.
          testTimeout: 900_000,
          hookTimeout: 900_000,
          globalSetup: ['./test/support/transcoder_bundle.ts', './test/e2e/shared_stack.ts'],
        },
      },
    ],
  },
})
