import { describe, expect, it } from 'vitest'
import { anOrganization, call, ok } from './support.ts'

describe('organization', () => {
  it('is created by the root key with a working server key', async () => {
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
    })
  })

  it('is 404 for another organization, as for an unknown and a malformed id', async () => {
    const [a, b] = [await anOrganization('A'), await anOrganization('B')]
    for (const id of [b.id, '00000000-0000-4000-8000-000000000000', 'nonsense']) {
      const { status, body } = await call('GET', `/v1/organization/${id}`, { key: a.key })
      expect([status, body.code]).toEqual([404, 'not_found'])
    }
  })
})
