import { t } from '../../base/text.ts'
import { Menu } from './menu.tsx'
import type { Options } from './options.ts'

interface Properties {
  /** The orders with their names. The first one is used for an unknown value. */
  options: Options
  value: string
  onChange: (value: string) => void
}

/** The menu that sorts a list. Its button names the current order. */
export const OrderMenu = ({ options, value, onChange }: Properties) => (
  <Menu
    label={t('Sort')}
    current={(options.find(([order]) => order === value) ?? options[0])?.[1] ?? ''}
    icon="sort"
    items={options.map(([order, label]) => ({
      label,
      isChecked: order === value,
      onSelect: () => onChange(order),
    }))}
  />
)
