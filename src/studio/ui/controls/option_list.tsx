import { groupsOf, type Option } from './options.ts'

interface Properties {
  id: string
  /** The id of the element with the name of the list. */
  labeledBy: string
  options: readonly Option[]
  value: string
  /** The position of the marked option. */
  at: number
  onMark: (at: number) => void
  onChoose: (option: Option) => void
}

/** The options of a select, in their groups. The focus is on the control that opens the list, which names the marked option. */
export const OptionList = ({ id, labeledBy, options, value, at, onMark, onChoose }: Properties) => (
  <div role="listbox" id={id} aria-labelledby={labeledBy}>
    {groupsOf(options).map(([name, members]) => {
      const items = members.map(([option, index]) => (
        <div
          key={option.value}
          role="option"
          id={`${id}-${index}`}
          class={index === at ? 'active' : undefined}
          aria-selected={option.value === value}
          onPointerMove={() => onMark(index)}
          onClick={() => onChoose(option)}
        >
          <bdi>{option.label}</bdi>
        </div>
      ))
      if (!name) return items
      return (
        <div key={name} role="group" aria-label={name}>
          <span aria-hidden="true">{name}</span>
          {items}
        </div>
      )
    })}
  </div>
)
