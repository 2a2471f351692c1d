import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { NODE_FLAGS } from '../../container/node_flags.ts'

test('the image starts the service with the flags that it has elsewhere', () => {
  const dockerfile = readFileSync(new URL('../../container/Dockerfile', import.meta.url), 'utf8')
  const [, command] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? []
  expect(JSON.parse(command!)).toEqual(['node', ...NODE_FLAGS, 'container/server.ts'])
})
