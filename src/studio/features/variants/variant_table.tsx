import type { Variant } from '../../base/api.ts'
import { bytes } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { Menu, type MenuItem } from '../../ui/controls/menu.tsx'
import { formatOf, minuteOf, purposeOf } from './variant.ts'

const CHANNELS: Record<number, string> = { 1: text('Mono'), 2: text('Stereo') }

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
          <th>{t('Name')}</th>
          <th>{t('For')}</th>
          <th>{t('Format')}</th>
          <th>{t('Channels')}</th>
          <th class="number">{t('Bitrate')}</th>
          <th class="number">{t('A minute')}</th>
          {menuOf && (
            <td>
              <span class="visually-hidden">{t('Actions')}</span>
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
              <td data-label={t('For')}>{purposeOf(variant)}</td>
              <td data-label={t('Format')}>{formatOf(variant.format)}</td>
              <td data-label={t('Channels')}>
                {codec ? (channels ? t(CHANNELS[channels]!) : t('as the source')) : '–'}
              </td>
              <td data-label={t('Bitrate')} class="number">
                {bitrate > 0 ? t('{n} kbit/s', { n: bitrate }) : '–'}
              </td>
              <td data-label={t('A minute')} class="number">
                {minute ? bytes(minute) : '–'}
              </td>
              {menuOf && (
                <td class="number menu-cell">
                  <Menu label={t('More for {title}', { title: name })} items={menuOf(variant)} />
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  </div>
)
