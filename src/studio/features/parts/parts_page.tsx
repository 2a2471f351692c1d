import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

import { text } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Chips } from '../../ui/controls/chips.tsx'
import { Choice } from '../../ui/controls/choice.tsx'
import { Check, TextField } from '../../ui/controls/field.tsx'
import { Fold } from '../../ui/controls/fold.tsx'
import { CountedHelp } from '../../ui/controls/help.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { OrderMenu } from '../../ui/controls/order_menu.tsx'
import { SearchField } from '../../ui/controls/search_field.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { TabList } from '../../ui/controls/tab_list.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Head } from '../../ui/page/head.tsx'
import { Empty, Loading, type LoadingKind, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'

/**
 * The page `#/parts`: all controls of the studio with their states, in light and dark colors and from right to left. It is a reference for developers,
 * in English only.
 */

const LOOKS = [
  { name: 'Light', style: { colorScheme: 'light' }, dir: 'ltr' },
  { name: 'Dark', style: { colorScheme: 'dark' }, dir: 'ltr' },
  { name: 'Right to left', style: {}, dir: 'rtl' },
] as const

export function PartsPage() {
  useTitle('Parts')
  return (
    <>
      <Head
        title="Parts"
        note="The controls of the studio with their states. Pages use them, and draw none of their own."
      >
        <Button>Other action</Button>
        <Button kind="primary" icon="plus">
          Primary action
        </Button>
      </Head>
      {LOOKS.map(({ name, style, dir }) => (
        <section key={name} class="parts-look" style={style} dir={dir} aria-label={name}>
          <h2>{name}</h2>
          <div class="parts-grid">
            <Choices />
            <Fields />
            <States />
          </div>
        </section>
      ))}
    </>
  )
}

const Part = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div class="part-states">
    <h3>{name}</h3>
    <div class="fields">{children}</div>
  </div>
)

const SIZES = ['title', 'heading', 'large', 'body', 'small'] as const
const FEW = [
  ['', 'As the browser'],
  ['en', 'English'],
  ['ar', 'العربية'],
] as const
const MANY = Array.from({ length: 30 }, (_, at) => [`${at}`, `Album ${at + 1}`] as const)
const nothing = () => {}

function Choices() {
  const [few, setFew] = useState('')
  const [many, setMany] = useState('3')
  const [view, setView] = useState<'covers' | 'list'>('covers')
  const [filter, setFilter] = useState('')
  const [order, setOrder] = useState('new')
  return (
    <>
      <Part name="Button">
        <span class="actions">
          <Button kind="primary">Primary</Button>
          <Button>Other</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="danger">Delete</Button>
          <Button disabled>Disabled</Button>
          <Button small>Small</Button>
          <Button kind="quiet" icon="edit" label="Edit" />
        </span>
      </Part>
      <Part name="Segment, for two to four views">
        <Choice
          label="View"
          value={view}
          options={[
            ['covers', text('Covers')],
            ['list', text('List')],
          ]}
          onChange={setView}
        />
      </Part>
      <Part name="Chips, only for filters">
        <Chips
          label="Filter"
          value={filter}
          options={[
            ['', 'All'],
            ['ready', 'Ready'],
            ['failed', 'Failed'],
          ]}
          onChange={setFilter}
        />
      </Part>
      <Part name="Select, searched from ten options">
        <SelectField label="Language" value={few} options={FEW} onChange={setFew} hint="A hint." />
        <SelectField
          label="Opens"
          value={many}
          options={MANY.slice(0, 5)}
          groups={[{ label: 'Playlists', options: MANY.slice(5) }]}
          onChange={setMany}
        />
        <SelectField label="Kind" value={few} options={FEW} onChange={setFew} error="Choose another one." />
      </Part>
      <Part name="Menu and order">
        <span class="actions">
          <Menu
            label="More"
            items={[
              { label: 'Edit …', onSelect: nothing },
              { label: 'Delete', danger: true, onSelect: nothing },
            ]}
          />
          <OrderMenu
            value={order}
            options={[
              ['new', 'Newest'],
              ['title', 'Title'],
            ]}
            onChange={setOrder}
          />
        </span>
      </Part>
    </>
  )
}

function Fields() {
  const [words, setWords] = useState('salt door')
  const [name, setName] = useState('Tidal Rooms')
  const [isOn, setOn] = useState(true)
  const [tab, setTab] = useState<'link' | 'embed'>('link')
  return (
    <>
      <Part name="Field">
        <TextField label="Title" value={name} onInput={setName} hint="A hint below the field." />
        <TextField label="Artist" value="" onInput={nothing} placeholder="Ines Calder" />
        <TextField label="Email" value="nobody" onInput={nothing} error="Enter an email address." />
        <SearchField label="Search" value={words} onInput={setWords} />
      </Part>
      <Part name="Toggle and checkbox">
        <Switch label="Password" hint="Visitors must enter it." checked={isOn} onChange={setOn}>
          <TextField label="New password" value="" onInput={nothing} />
        </Switch>
        <Check label="For adults" checked={isOn} onChange={setOn} />
        <Check label="Private" checked={!isOn} onChange={(value) => setOn(!value)} />
      </Part>
      <Part name="Tabs">
        <TabList
          label="Ways to share"
          current={tab}
          tabs={[
            ['link', 'Link'],
            ['embed', 'Embed'],
          ]}
          onChange={setTab}
        >
          <p class="soft">The panel of {tab}.</p>
        </TabList>
      </Part>
      <Part name="Disclosure">
        <div>
          <Fold title="Address and title" note="our-new-record">
            <p>Hidden at first.</p>
          </Fold>
          <Fold title="Ids for developers" isOpen>
            <Copyable label="Id of the collection" value="000eb8fd-0802-45e7-a16e-a961d70e593c" />
          </Fold>
        </div>
      </Part>
      <Part name="Help">
        <span>
          Plays <CountedHelp of="plays" />
        </span>
      </Part>
    </>
  )
}

const SHAPES: readonly LoadingKind[] = ['rows', 'table', 'fields', 'head']

const States = () => (
  <>
    <Part name="Type">
      {SIZES.map((size) => (
        <span key={size} style={{ fontSize: `var(--type-${size})` }}>
          {size} 0123456789 <span class="soft">soft</span>
        </span>
      ))}
    </Part>
    {SHAPES.map((kind) => (
      <Part key={kind} name={`Loading: ${kind}`}>
        <Loading kind={kind} rows={2} />
      </Part>
    ))}
    <Part name="Problem">
      <Problem failure={{ message: 'The service does not answer.' }} retry={nothing} />
    </Part>
    <Part name="Empty">
      <Empty title="No links yet" action={<Button kind="primary">Share an album</Button>}>
        Share a collection from its page.
      </Empty>
    </Part>
  </>
)
