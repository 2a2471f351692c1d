import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { NODE_FLAGS } from '../../container/process/node_flags.ts'

describe('the container image', () => {
  it('starts the service with the Node flags that `npm start` uses', () => {
    const dockerfile = readFileSync(new URL('../../container/Dockerfile', import.meta.url), 'utf8')
    const command = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1]
    expect(JSON.parse(command ?? 'null')).toEqual(['node', ...NODE_FLAGS, 'server.js'])
  })
})
