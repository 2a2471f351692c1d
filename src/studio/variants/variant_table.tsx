import type { Variant } from '../api.ts'
import { bytes } from '../format.ts'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { formatOf, minuteOf, purposeOf } from './variant.ts'

const CHANNELS: Record<number, string> = { 1: 'Mono', 2: 'Stereo' }

interface Properties {
  variants: Variant[]
  /** Returns the actions of a variant; none for default variants. */
  menuOf?: (variant: Variant) => MenuItem[]
}

/** A table of variants with their formats. */
export const VariantTable = ({ variants, menuOf }: Properties) => (
  <div class="card table-box">
    <table class="stacked">
      <thead>
        <tr>
          <th>Name</th>
          <th>For</th>
          <th>Format</th>
          <th>Channels</th>
          <th class="number">Bitrate</th>
          <th class="number">A minute</th>
          {menuOf && (
            <td>
              <span class="visually-hidden">Actions</span>
            </td>
          )}
        </tr>
      </thead>
      <tbody>
        {variants.map((variant) => {
          const { id, name, index, codec, channels, bitrate } = variant
          const minute = minuteOf(variant)
          return (
            <tr key={id}>
              <th scope="row">
                {name} <code class="soft">{index}</code>
              </th>
              <td data-label="For">{purposeOf(variant)}</td>
              <td data-label="Format">{formatOf(variant.format)}</td>
              <td data-label="Channels">{codec ? (channels ? CHANNELS[channels] : 'as the source') : '–'}</td>
              <td data-label="Bitrate" class="number">
                {bitrate > 0 ? `${bitrate} kbit/s` : '–'}
              </td>
              <td data-label="A minute" class="number">
                {minute ? bytes(minute) : '–'}
              </td>
              {menuOf && (
                <td class="number menu-cell">
                  <Menu label={`More for ${name}`} items={menuOf(variant)} />
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)
