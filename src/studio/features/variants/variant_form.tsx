import { useState } from 'preact/hooks'

import { type AudioCodec, CODECS } from '../../../contract/facts.ts'
import type { Failure, Variant } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { failureText, t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { NumberField, TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Cancel, Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { Message } from '../../ui/page/states.tsx'

const TYPES = [
  ['transcode', text('Playback')],
  ['preview', text('Preview: a part of the track')],
] as const
const codecNames = () =>
  Object.entries(CODECS).map(
    ([codec, { label, lossless }]) => [codec, lossless ? t('{codec}, lossless', { codec: label }) : label] as const,
  )
type Options = readonly (readonly [string, string])[]
const translated = (options: Options): Options => options.map(([value, label]) => [value, t(label)])
const CHANNELS = [
  ['', text('As the source')],
  ['1', text('Mono')],
  ['2', text('Stereo')],
] as const

const NEW = {
  name: '',
  index: '',
  type: 'transcode',
  codec: 'mp3',
  bitrate: '192',
  channels: '',
  start: '0',
  length: '30',
}
type Values = typeof NEW

const hasBitrate = (codec: string) => CODECS[codec as AudioCodec].bitrates !== null
const textOf = (value: number | null) => (value === null ? '' : String(value))
const numberOf = (text: string) => (text === '' ? undefined : Number(text))

const valuesOf = ({ name, index, type, codec, bitrate, channels, start, length }: Variant): Values => ({
  name,
  index,
  type,
  codec: codec ?? 'mp3',
  bitrate: textOf(bitrate || null),
  channels: textOf(channels),
  start: textOf(start),
  length: textOf(length),
})

/** Returns the fields that can be changed later, in the format of the service. */
const settingsOf = ({ name, type, codec, bitrate, channels, start, length }: Values) => ({
  name: name.trim(),
  codec: codec as AudioCodec,
  ...(hasBitrate(codec) && { bitrate: numberOf(bitrate) }),
  channels: (numberOf(channels) ?? null) as 1 | 2 | null,
  ...(type === 'preview' && { start: numberOf(start), length: numberOf(length) }),
})

/** An index that is taken has no error of a field, only a code. */
const refusedFor = (failure: Failure): Faults =>
  failure.code === 'variant_exists' ? { index: failureText(failure) } : faultsOf(failure, Object.keys(NEW))

interface Properties {
  /** Null to create one. */
  variant: Variant | null
  onSaved: (name: string) => void
  onClose: () => void
}

/** A dialog that creates or changes a variant. The index and the kind are fixed, because sessions and keys refer to them. */
export function VariantForm({ variant, onSaved, onClose }: Properties) {
  const client = useClient()
  const before = variant ? valuesOf(variant) : NEW
  const [values, setValues] = useState(before)
  const [faults, setFaults] = useState<Faults>({})
  const changed = Object.entries(before).some(([name, value]) => values[name as keyof Values] !== value)
  const field = (name: keyof Values) => ({ value: values[name], error: faults[name], onInput: setter(name) })
  const choice = (name: keyof Values) => ({ value: values[name], error: faults[name], onChange: setter(name) })
  const setter = (name: keyof Values) => (value: string) => setValues((all) => ({ ...all, [name]: value }))

  async function save() {
    const settings = settingsOf(values)
    const type = values.type as 'transcode' | 'preview'
    const index = values.index.trim()
    const answer = variant
      ? await client.put('/v1/variant/{variant_id}', { params: { variant_id: variant.id }, body: settings })
      : await client.post('/v1/variant', { body: { ...settings, type, ...(index && { index }) } })
    setFaults(answer.ok ? {} : refusedFor(answer))
    if (answer.ok) onSaved(answer.variant.name)
  }
  return (
    <Dialog
      title={variant ? t('Edit {name}', { name: variant.name }) : t('New variant')}
      asks={changed && DISCARD}
      onClose={onClose}
    >
      <Form noValidate onSubmit={save}>
        <TextField label={t('Name')} {...field('name')} required placeholder={t('MP3 320')} />
        {!variant && (
          <>
            <TextField
              label={t('Index')}
              {...field('index')}
              placeholder="mp3-320"
              hint={t('The name that players request. Derived from the name if empty. It cannot be changed later.')}
            />
            <SelectField label={t('For')} {...choice('type')} options={translated(TYPES)} />
          </>
        )}
        <div class="pair">
          <SelectField label={t('Codec')} {...choice('codec')} options={codecNames()} />
          {hasBitrate(values.codec) && <NumberField label={t('Bitrate in kbit/s')} {...field('bitrate')} />}
        </div>
        <SelectField label={t('Channels')} {...choice('channels')} options={translated(CHANNELS)} />
        {values.type === 'preview' && (
          <div class="pair">
            <NumberField label={t('Start in seconds')} {...field('start')} />
            <NumberField label={t('Length in seconds')} {...field('length')} />
          </div>
        )}
        {variant && <p class="hint">{t('Tracks keep the files that they have until they are processed again.')}</p>}
        <Message>{faults.other}</Message>
        <div class="actions end">
          <Cancel />
          <Button type="submit" kind="primary">
            {variant ? t('Save') : t('Create variant')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
