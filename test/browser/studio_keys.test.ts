import { expect, test } from 'vitest'

import { keyCode, webhookCode } from '../../src/studio/features/keys/secret_code.ts'

/** The code that the dialog of a new secret offers. */

const ORIGIN = 'https://audio.example.com'
const UNBOUND = { collection_id: null, track_id: null, playlist_id: null }

test('the code of a key uses what it is bound to, or a placeholder', () => {
  const bound = keyCode(ORIGIN, 'ta_pk_1', { ...UNBOUND, type: 'player', playlist_id: 'abc' })
  expect(bound.label).toBe('For your page')
  expect(bound.code).toContain('api-key="ta_pk_1" scope="playlist" resource-id="abc"')
  expect(keyCode(ORIGIN, 'ta_pk_1', { ...UNBOUND, type: 'player' }).code).toContain(
    'scope="collection" resource-id="COLLECTION_ID"',
  )
  const uploader = keyCode(ORIGIN, 'ta_uk_1', { ...UNBOUND, type: 'uploader', collection_id: 'abc' }).code
  expect(uploader).toContain(
    '<tonearm-uploader base-url="https://audio.example.com" api-key="ta_uk_1" collection-id="abc">',
  )
})

test('the code of a server key is a request, and that of a webhook verifies one', () => {
  expect(keyCode(ORIGIN, 'ta_sk_1', { ...UNBOUND, type: 'server' })).toEqual({
    label: 'For your server',
    code: `curl -H 'Authorization: Bearer ta_sk_1' ${ORIGIN}/v1/collection`,
  })
  expect(keyCode(ORIGIN, 'ta_sg_1', { ...UNBOUND, type: 'signing', track_id: 'abc' }).code).toContain(
    "signPlaySession('ta_sg_1', { scope: 'track', id: 'abc' })",
  )
  expect(webhookCode('whsec_1').code).toMatch(/verifyWebhook\(\{[^]*secret: 'whsec_1'/)
})
