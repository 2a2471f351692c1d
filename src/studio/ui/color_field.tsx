import { useState } from 'preact/hooks'

import { DEFAULT_COLOR, MAX_THEME_COLORS } from '../../contract/facts.ts'
import { isHex } from '../../elements/shared/color.ts'
import { t } from '../text.ts'
import { Button } from './button.tsx'
import { Field } from './field.tsx'

interface ColorProperties {
  label: string
  value: string | null
  onChange: (value: string | null) => void
}

/** A field for a color, which can be picked or typed as `#RRGGBB`. Without a value, the color is inherited. */
export function ColorField({ label, value, onChange }: ColorProperties) {
  const [text, setText] = useState<string | null>(null)
  const shown = text ?? value ?? ''
  function type(typed: string) {
    setText(typed)
    if (isHex(typed)) onChange(typed.toUpperCase())
  }
  function choose(chosen: string | null) {
    setText(null)
    onChange(chosen)
  }
  return (
    <Field label={label}>
      {(id) => (
        <span class="color-field">
          <input
            type="color"
            aria-label={t('Choose: {label}', { label })}
            value={value ?? DEFAULT_COLOR}
            onInput={(event) => choose(event.currentTarget.value.toUpperCase())}
          />
          <input
            id={id}
            value={shown}
            maxLength={7}
            placeholder={t('inherited')}
            spellcheck={false}
            autocomplete="off"
            aria-invalid={shown !== '' && !isHex(shown)}
            onInput={(event) => type(event.currentTarget.value)}
          />
          <Button kind="quiet" small disabled={value === null} onClick={() => choose(null)}>
            {t('Inherit')}
          </Button>
        </span>
      )}
    </Field>
  )
}

/** A field for the colors of a theme. Without a color, those of the cover are used. */
export function ThemeField({ colors, onChange }: { colors: string[]; onChange: (colors: string[]) => void }) {
  return (
    <fieldset class="theme-field">
      <legend>{t('Theme colors')}</legend>
      <span class="swatches">
        {colors.map((color, at) => (
          <span key={at} class="swatch">
            <input
              type="color"
              aria-label={t('Theme color {n}', { n: at + 1 })}
              value={color}
              onInput={({ currentTarget }) => onChange(colors.with(at, currentTarget.value.toUpperCase()))}
            />
            <Button
              kind="quiet"
              small
              icon="close"
              label={t('Remove theme color {n}', { n: at + 1 })}
              onClick={() => onChange(colors.toSpliced(at, 1))}
            />
          </span>
        ))}
        {colors.length < MAX_THEME_COLORS && (
          <Button small icon="plus" onClick={() => onChange([...colors, colors.at(-1) ?? DEFAULT_COLOR])}>
            {t('Add a color')}
          </Button>
        )}
      </span>
      {colors.length === 0 && <p class="hint">{t('Taken from the cover.')}</p>}
    </fieldset>
  )
}
