import { MAX_EMAIL, MAX_LINK_URL } from '../../../contract/facts.ts'
import { PODCAST_CATEGORIES } from '../../../contract/podcast.ts'
import { t, text } from '../../base/text.ts'
import { Choice } from '../../ui/controls/choice.tsx'
import { Check, TextField } from '../../ui/controls/field.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { Message } from '../../ui/page/states.tsx'
import type { FeedDraft } from './feed.ts'
import { FeedState } from './feed_state.tsx'
import type { EditedLink } from './use_link.ts'

/** The podcast feed of a link. Turning it on allows downloads too, because podcast apps download the episodes. */
export function FeedFields({ link: { link, draft, faults, changed, edit } }: { link: EditedLink }) {
  const { feed } = draft
  const set = (changes: Partial<FeedDraft>) => edit({ feed: { ...feed, ...changes } })
  const isPossible = draft.downloadable && !draft.hasPassword && !draft.hasSites
  return (
    <Switch
      label={t('Podcast feed')}
      hint={t('An address for podcast apps. It needs downloads, and neither a password nor named sites.')}
      checked={draft.hasFeed}
      onChange={(hasFeed) => edit({ hasFeed, ...(hasFeed && { downloadable: true }) })}
    >
      <div class="fields">
        <Message>
          {faults.feed ?? (isPossible ? '' : t('Allow downloads, and turn the password and the named sites off.'))}
        </Message>
        <TextField
          label={t('Author')}
          value={feed.author}
          onInput={(author) => set({ author })}
          error={faults.feed_author}
        />
        <TextField
          label={t('Email of the owner')}
          value={feed.email}
          onInput={(email) => set({ email })}
          error={faults.feed_email}
          maxLength={MAX_EMAIL}
          hint={t('Directories verify you with it. Everyone can read it in the feed.')}
        />
        <TextField
          label={t('Language')}
          value={feed.language}
          onInput={(language) => set({ language })}
          error={faults.feed_language}
          placeholder="en-US"
          maxLength={35}
        />
        <SelectField
          label={t('Category')}
          value={feed.category}
          options={[['', t('None')], ...PODCAST_CATEGORIES.map((name) => [name, name] as const)]}
          onChange={(category) => set({ category })}
          error={faults.feed_category}
          hint={t('The names are those of Apple Podcasts.')}
        />
        <TextField
          label={t('Website')}
          value={feed.link}
          onInput={(website) => set({ link: website })}
          error={faults.feed_link}
          placeholder="https://example.com"
          maxLength={MAX_LINK_URL}
          hint={t('Empty: the page of this link.')}
        />
        <TextField
          label={t('Copyright')}
          value={feed.copyright}
          onInput={(copyright) => set({ copyright })}
          error={faults.feed_copyright}
        />
        <Choice
          label={t('Order of the episodes')}
          value={feed.type}
          options={[
            ['episodic', text('Newest first')],
            ['serial', text('From the first to the last')],
          ]}
          onChange={(type) => set({ type })}
        />
        <Check label={t('For adults (explicit)')} checked={feed.explicit} onChange={(explicit) => set({ explicit })} />
        <Check
          label={t('Private: directories are asked not to list it')}
          checked={feed.block}
          onChange={(block) => set({ block })}
        />
        {link?.feed_url && !changed.includes('feed') && <FeedState link={link} feed_url={link.feed_url} />}
      </div>
    </Switch>
  )
}
