import { MAX_LINK_TITLE, MAX_LINK_URL, MAX_SHARE_LINKS, MAX_SHARE_TEXT } from '../../../contract/facts.ts'
import { t } from '../../base/text.ts'
import { Field } from '../../ui/controls/field.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import type { EditedLink } from './use_link.ts'

const NO_LINK = { title: '', url: '' }

/** The text and the links on the page of a link. There is always an empty row for another link, up to the limit. */
export function PageFields({ link: { draft, faults, edit } }: { link: EditedLink }) {
  const rows = draft.links.length < MAX_SHARE_LINKS ? [...draft.links, NO_LINK] : draft.links
  const editRow = (at: number, changes: Partial<typeof NO_LINK>) =>
    edit({
      links: rows
        .map((row, index) => (index === at ? { ...row, ...changes } : row))
        .slice(0, Math.max(draft.links.length, at + 1)),
    })
  return (
    <Switch
      label={t('Text and links on the page')}
      checked={draft.hasAbout}
      onChange={(hasAbout) => edit({ hasAbout })}
    >
      <Field
        label={t('Text on the page')}
        error={faults.text}
        hint={t('Empty lines separate paragraphs. You can use **bold**, *italic* and [links](https://example.com).')}
      >
        {(id, described) => (
          <textarea
            id={id}
            rows={5}
            maxLength={MAX_SHARE_TEXT}
            aria-describedby={described}
            aria-invalid={faults.text ? true : undefined}
            dir="auto"
            value={draft.text}
            onInput={(event) => edit({ text: event.currentTarget.value })}
          />
        )}
      </Field>
      {rows.map(({ title, url }, at) => (
        <div key={at} class="page-link">
          <input
            aria-label={t('Title of link {n}', { n: at + 1 })}
            placeholder={t('Title')}
            maxLength={MAX_LINK_TITLE}
            value={title}
            onInput={(event) => editRow(at, { title: event.currentTarget.value })}
          />
          <input
            aria-label={t('Address of link {n}', { n: at + 1 })}
            placeholder="https://example.com"
            maxLength={MAX_LINK_URL}
            inputMode="url"
            dir="ltr"
            aria-invalid={faults.links ? true : undefined}
            value={url}
            onInput={(event) => editRow(at, { url: event.currentTarget.value })}
          />
        </div>
      ))}
      {faults.links && (
        <p class="error" role="alert">
          {faults.links}
        </p>
      )}
    </Switch>
  )
}
