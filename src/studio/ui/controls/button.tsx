import type { ComponentChildren } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'

import { Sending } from './form.tsx'
import { Icon, type IconName } from './icon.tsx'
import { useOnce } from './once.ts'

interface Properties {
  onClick?: () => unknown
  children?: ComponentChildren
  icon?: IconName
  kind?: 'primary' | 'quiet' | 'danger' | ''
  small?: boolean
  type?: 'button' | 'submit'
  disabled?: boolean | undefined
  label?: string | undefined
  tabIndex?: number
}

/** A button. It is disabled while the promise of its handler is pending. */
export function Button(properties: Properties) {
  const { onClick, children, icon, kind = '', small, type = 'button', disabled, label, tabIndex } = properties
  const [busy, once] = useOnce()
  const sending = useContext(Sending)
  const button = useRef<HTMLButtonElement>(null)
  const hadFocus = useRef(false)
  useLayoutEffect(() => {
    // A button loses the focus while it is disabled.
    if (!busy && hadFocus.current && document.activeElement === document.body)
      button.current?.focus({ preventScroll: true })
  }, [busy])
  function press() {
    hadFocus.current = document.activeElement === button.current
    void once(onClick!)
  }
  const classes = ['button', kind, small && 'small', !children && 'bare'].filter(Boolean).join(' ')
  return (
    <button
      ref={button}
      class={classes}
      type={type}
      disabled={disabled || busy || sending}
      aria-label={label}
      title={children ? undefined : label}
      tabIndex={tabIndex}
      onClick={onClick && press}
    >
      {icon && <Icon name={icon} />}
      {children && <span>{children}</span>}
    </button>
  )
}

interface FileProperties extends Pick<Properties, 'icon' | 'kind' | 'small' | 'children' | 'label'> {
  accept: string
  multiple?: boolean
  onFiles: (files: File[]) => unknown
}

/** A button that opens the file chooser. It is a real button for keyboards and screen readers. */
export function FileButton({ accept, multiple = false, onFiles, ...looks }: FileProperties) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <span class="file-button">
      <Button {...looks} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        multiple={multiple}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])]
          currentTarget.value = ''
          if (files.length > 0) onFiles(files)
        }}
      />
    </span>
  )
}
