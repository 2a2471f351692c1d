import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { apiKeys } from '../../../src/adapters/db/schema/api_keys.ts'
import { anOrganization, db, ok, expectError, errorPaths } from '../support/api.ts'

describe('an organization', () => {
  it('is created with a working server key by the root key', async () => {
    const { id, key } = await anOrganization('Blue Note')
    const { organization } = await ok('GET', `/v1/organization/${id}`, { key })
    expect(organization).toEqual({
      id,
      name: 'Blue Note',
      image_colors: [],
      theme: [],
      is_theme_overridable: true,
      is_cover_overridable: true,
      player_color: '#2B3440',
      player_subtitle: '',
      uses_tags: true,
      progress_days: 400,
      max_bytes: null,
      version: expect.any(Number) as number,
    })
  })

  it('has keys that are stored only as hashes', async () => {
    const { key } = await anOrganization()
    expect(key).toMatch(/^ta_sk_[0-9A-Za-z]{49}$/)
    expect(JSON.stringify(await db.select().from(apiKeys))).not.toContain(key.slice(6))
  })

  it('keeps fields that an update omits', async () => {
    const { id, key } = await anOrganization('Blue Note')
    const put = (body: object) => ok('PUT', `/v1/organization/${id}`, { key, body })
    await put({ player_color: '#ff8800', player_subtitle: 'since 1939', is_theme_overridable: false })
    const { organization } = await put({ is_cover_overridable: false, theme: ['#ff0000', '#808080', '#000000'] })
    expect(organization).toMatchObject({
      name: 'Blue Note',
      player_color: '#ff8800',
      player_subtitle: 'since 1939',
      is_theme_overridable: false,
      is_cover_overridable: false,
    })
    expect(await put({})).toMatchObject({ organization })
    expect(await ok('GET', `/v1/organization/${id}`, { key })).toMatchObject({ organization })
  })

  it('returns its theme as image colors: equal areas, lightness and saturation as fractions, and hex values in upper case', async () => {
    const { id, key } = await anOrganization()
    const body = { theme: ['#ff0000', '#808080', '#336699'] }
    const { organization } = await ok('PUT', `/v1/organization/${id}`, { key, body })
    expect(organization.theme).toEqual(body.theme)
    expect(organization.image_colors).toEqual([
      { hex: '#FF0000', area: 0.3333, lightness: 0.5, saturation: 1 },
      { hex: '#808080', area: 0.3333, lightness: 0.502, saturation: 0 },
      { hex: '#336699', area: 0.3333, lightness: 0.4, saturation: 0.5 },
    ])
    expect((await ok('PUT', `/v1/organization/${id}`, { key, body: { theme: [] } })).organization.image_colors).toEqual(
      [],
    )
  })

  it('resets settings that are set to null', async () => {
    const { id, key } = await anOrganization()
    await ok('PUT', `/v1/organization/${id}`, { key, body: { player_color: '#123456', player_subtitle: 'x' } })
    const cleared = { player_color: null, player_subtitle: null }
    const { organization } = await ok('PUT', `/v1/organization/${id}`, { key, body: cleared })
    expect(organization).toMatchObject({ player_color: '#2B3440', player_subtitle: '' })
  })

  it('is found by its id in upper case', async () => {
    const { id, key } = await anOrganization()
    expect((await ok('GET', `/v1/organization/${id.toUpperCase()}`, { key })).organization_id).toBe(id)
  })
})

describe('an invalid request for an organization', () => {
  const wrong = async (body: object) => {
    const { id, key } = await anOrganization()
    return errorPaths(await expectError(400, 'invalid_request', 'PUT', `/v1/organization/${id}`, { key, body }))
  }

  it('is refused with the path of each invalid theme color', async () => {
    expect(await wrong({ theme: ['#112233', 'red', '#12345', '#1122334'] })).toEqual(['theme.1', 'theme.2', 'theme.3'])
  })

  it('is refused when it contains more than 12 theme colors', async () => {
    expect(await wrong({ theme: Array.from({ length: 13 }, () => '#112233') })).toEqual(['theme'])
  })

  it('is refused when the name is empty, too long or null, or when a flag is not a boolean', async () => {
    expect(await wrong({ name: '' })).toEqual(['name'])
    expect(await wrong({ name: 'x'.repeat(256) })).toEqual(['name'])
    expect(await wrong({ name: null, is_cover_overridable: 1 })).toEqual(['name', 'is_cover_overridable'])
  })

  it('is refused with a list of all unknown fields', async () => {
    const { id, key } = await anOrganization()
    const body = { id, image_colors: [] }
    const answer = await expectError(400, 'unknown_field', 'PUT', `/v1/organization/${id}`, { key, body })
    expect(errorPaths(answer)).toEqual(['id', 'image_colors'])
  })

  it('is refused when it creates an organization without a name', async () => {
    expect(
      errorPaths(await expectError(400, 'invalid_request', 'POST', '/v1/organization', { key: env.ROOT_KEY })),
    ).toEqual(['name'])
  })
})
