import { useRef, useState } from 'preact/hooks'

import { t } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'
import { copyText } from '../controls/copy.ts'
import { announce } from './announce.ts'

const SHOWN_FOR = 1500
/** The number of characters above which a text has its own lines. */
const LONG = 90

interface Properties {
  label: string
  value: string
  /** The text that is shown instead of one that contains a secret. */
  shown?: string | undefined
}

/** A text with a label and a button that copies it. */
export function Copyable({ label, value, shown = value }: Properties) {
  const code = useRef<HTMLElement>(null)
  const [done, setDone] = useState('')
  async function copy() {
    const copied = await copyText(value)
    // If the clipboard is not available, the text is selected.
    if (!copied && code.current) getSelection()?.selectAllChildren(code.current)
    setDone(copied ? t('Copied') : t('Selected'))
    announce(copied ? t('{label} copied', { label }) : t('{label} selected', { label }))
    setTimeout(() => setDone(''), SHOWN_FOR)
  }
  return (
    <div class={shown.length > LONG ? 'copyable long' : 'copyable'}>
      <span class="label">{label}</span>
      <pre tabIndex={0} aria-label={label} dir="ltr">
        <code ref={code}>{shown}</code>
      </pre>
      <Button small label={t('Copy {label}', { label })} onClick={copy}>
        {done || t('Copy')}
      </Button>
    </div>
  )
}
