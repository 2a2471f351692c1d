import { useRef } from 'preact/hooks'

import { t, text } from '../../base/text.ts'
import { useUniqueId } from './id.ts'
import { placePopover } from './popover.ts'

interface Properties {
  /** The name of the button, such as "What is a play?". */
  label: string
  children: string
}

/** A question mark that shows a sentence. Screen readers read it when the button gets the focus. */
export function Help({ label, children }: Properties) {
  const id = useUniqueId()
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button ref={button} type="button" class="help" aria-label={label} aria-describedby={id} popovertarget={id}>
        ?
      </button>
      <span
        id={id}
        class="help-text"
        popover="auto"
        onBeforeToggle={({ currentTarget, newState }) => {
          if (newState === 'open') requestAnimationFrame(() => placePopover(currentTarget, button.current!, 'start'))
        }}
      >
        {children}
      </span>
    </>
  )
}

/** The meanings of the numbers of listening (docs/counting.md), each as a question and its answer. */
const COUNTED = {
  plays: [
    text('What is a play?'),
    text('A pass of a track in which 30 seconds were heard, or half of it if it is shorter than a minute.'),
  ],
  visits: [text('What is a visit?'), text('One use of a player on a page.')],
  seconds: [
    text('What is the time heard?'),
    text('The seconds of the recordings that were heard. A part that is heard twice counts twice.'),
  ],
  completions: [text('What is completed?'), text('A pass of a track of which 90 % was heard.')],
} as const

/** The question mark next to a number of listening. */
export const CountedHelp = ({ of }: { of: keyof typeof COUNTED }) => (
  <Help label={t(COUNTED[of][0])}>{t(COUNTED[of][1])}</Help>
)
