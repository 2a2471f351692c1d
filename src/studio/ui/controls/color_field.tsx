import { useState } from 'preact/hooks'

import { DEFAULT_COLOR, MAX_THEME_COLORS } from '../../../contract/facts.ts'
import { isHex } from '../../../elements/shared/color.ts'
import { t } from '../../base/text.ts'
import { Button } from './button.tsx'
import { Field } from './field.tsx'
import { useUniqueId } from './id.ts'

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

/** The maximum number of colors that are offered. */
const MAX_SWATCHES = 5

interface ChoiceProperties extends ColorProperties {
  /** The colors to choose from, such as those of the cover. */
  swatches: readonly string[]
}

/** A choice of a color: inherited, one of the swatches, or any other. */
export function ColorChoice({ label, value, swatches, onChange }: ChoiceProperties) {
  const name = useUniqueId()
  const offered = [...new Set(swatches.map((hex) => hex.toUpperCase()))].slice(0, MAX_SWATCHES)
  const isOther = value !== null && !offered.includes(value)
  const swatch = (color: string | null, text: string) => (
    <label key={text} class={color ? 'color-swatch' : 'color-swatch none'} title={text}>
      <input
        type="radio"
        name={name}
        aria-label={text}
        checked={color === value}
        onChange={() => onChange(color)}
        style={{ backgroundColor: color ?? 'transparent' }}
      />
    </label>
  )
  return (
    <fieldset class="color-choice">
      <legend>{label}</legend>
      <span class="swatches">
        {swatch(null, t('Inherited'))}
        {offered.map((color) => swatch(color, color))}
        <label class={isOther ? 'color-swatch other chosen' : 'color-swatch other'} title={t('Another color')}>
          <input
            type="color"
            aria-label={t('Another color')}
            value={value ?? DEFAULT_COLOR}
            onInput={({ currentTarget }) => onChange(currentTarget.value.toUpperCase())}
          />
        </label>
      </span>
    </fieldset>
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
