import { make } from './dom.ts'
import { askForKey, storedKey } from './key.ts'

/** Forms that send the request of an operation to this service. They are made when they are opened first, from the OpenAPI document. */

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  example?: string | number
  schema: { enum?: string[] }
}
interface Reference {
  $ref: string
}
interface Operation {
  parameters: (Parameter | Reference)[]
  security: object[]
  requestBody?: { content: { 'application/json': { example?: Record<string, unknown> } } }
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { parameters: Record<string, Parameter> }
}

let loading: Promise<Document> | undefined
const loadDocument = () => (loading ??= fetch('/openapi.json').then((response) => response.json() as Promise<Document>))

/** Ids in responses of this tab. The next forms contain them, so that a created track can be read. */
const IDS = 'tonearm.docs.ids'
const knownIds = () => JSON.parse(sessionStorage.getItem(IDS) ?? '{}') as Record<string, string>

function rememberIds(response: Record<string, unknown>): void {
  const ids = knownIds()
  for (const [name, value] of Object.entries(response)) {
    if (name.endsWith('_id') && name !== 'api_request_id' && typeof value === 'string') ids[name] = value
    // `tracks: [{ id }]` has the id of a track.
    const id = Array.isArray(value) ? (value[0] as { id?: unknown } | undefined)?.id : undefined
    if (typeof id === 'string') ids[`${name.replace(/s$/, '')}_id`] = id
  }
  sessionStorage.setItem(IDS, JSON.stringify(ids))
}

interface Form {
  element: HTMLFormElement
  /** Returns the request. Throws if the body is not JSON. */
  request: () => { path: string; init: RequestInit }
}

const valueOf = ({ name, example }: Parameter) => knownIds()[name] ?? String(example ?? '')

function makeField(id: string, { name, required, schema, ...parameter }: Parameter): [HTMLElement, HTMLInputElement] {
  const placeholder = schema.enum?.join(' | ') ?? ''
  const value = valueOf({ name, required, schema, ...parameter })
  const input = make('input', { id, name, value, required, placeholder, autocomplete: 'off', spellcheck: false })
  return [make('div', { className: 'field' }, make('label', { htmlFor: id }, name), input), input]
}

/** 16 random hexadecimal digits. A visit of an example belongs to the session that reported it first. */
const randomVisit = () =>
  [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

function bodyOf(operation: Operation): string | undefined {
  const example = operation.requestBody?.content['application/json'].example
  if (!operation.requestBody) return undefined
  const ids: Record<string, string> = { ...knownIds(), visit: randomVisit() }
  const filled = Object.entries(example ?? {}).map(([name, value]) => [name, name in ids ? ids[name] : value])
  return JSON.stringify(Object.fromEntries(filled), null, 2)
}

/** Makes the fields of a request. Optional parameters without a value in the example are behind a disclosure. */
function makeForm(section: HTMLElement, operation: Operation, { components }: Document): Form {
  const { method = '', path = '' } = section.dataset
  const fields = operation.parameters.map((each) => {
    const parameter = '$ref' in each ? components.parameters[each.$ref.split('/').at(-1)!]! : each
    const [field, input] = makeField(`try-${section.id}-${parameter.name}`, parameter)
    return { field, input, parameter }
  })
  const isMain = ({ parameter, input }: (typeof fields)[number]) => parameter.required || input.value !== ''
  const main = fields.filter(isMain).map(({ field }) => field)
  const others = fields.filter((field) => !isMain(field)).map(({ field }) => field)
  const json = bodyOf(operation)
  const body = make('textarea', {
    id: `try-${section.id}-body`,
    value: json ?? '',
    rows: Math.min(14, (json ?? '').split('\n').length + 1),
    spellcheck: false,
  })
  const element = make('form', { className: 'try-form', noValidate: false }, ...main)
  if (json !== undefined)
    element.append(make('div', { className: 'field' }, make('label', { htmlFor: body.id }, 'Body (JSON)'), body))
  if (others.length > 0)
    element.append(
      make('details', {}, make('summary', {}, 'More parameters'), make('div', { className: 'details' }, ...others)),
    )
  function request() {
    const query = new URLSearchParams()
    const headers = new Headers()
    let filled = path
    for (const { input, parameter } of fields) {
      if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(input.value))
      else if (input.value && parameter.in === 'query') query.set(parameter.name, input.value)
      else if (input.value) headers.set(parameter.name, input.value)
    }
    const key = storedKey()
    if (key && operation.security.length > 0) headers.set('authorization', `Bearer ${key}`)
    const init: RequestInit = { method: method.toUpperCase(), headers }
    if (json !== undefined) {
      headers.set('content-type', 'application/json')
      init.body = JSON.stringify(JSON.parse(body.value || '{}'))
    }
    return { path: filled + (query.size > 0 ? `?${query}` : ''), init }
  }
  return { element, request }
}

const pretty = (text: string) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Sends a request, and shows its response in `output`. */
async function send({ request }: Form, status: HTMLElement, output: HTMLElement): Promise<void> {
  output.hidden = true
  status.className = 'hint'
  status.textContent = 'Sending …'
  try {
    const { path, init } = request()
    const start = performance.now()
    const response = await fetch(path, init)
    const text = await response.text()
    status.textContent = `${response.status} ${response.statusText} · ${Math.round(performance.now() - start)} ms`
    status.className = response.ok ? 'good' : 'error'
    if (!text) return
    output.textContent = pretty(text)
    output.hidden = false
    if (response.ok) rememberIds(JSON.parse(text) as Record<string, unknown>)
  } catch (error) {
    status.className = 'error'
    status.textContent = error instanceof SyntaxError ? `The body is not JSON: ${error.message}` : 'No response.'
  }
}

async function open(section: HTMLElement, button: HTMLElement): Promise<void> {
  const { method = '', path = '', destructive } = section.dataset
  const loaded = await loadDocument()
  const operation = loaded.paths[path]![method]!
  const form = makeForm(section, operation, loaded)
  const label = `Send ${method.toUpperCase()}`
  const submit = make('button', { className: 'button primary small' }, label)
  const status = make('p', { role: 'status', className: 'hint' })
  const output = make('pre', { hidden: true, tabIndex: 0, ariaLabel: 'Response' })
  output.setAttribute('role', 'region')
  const needsKey = operation.security.length > 0
  form.element.append(make('div', { className: 'actions' }, submit, status), output)
  let isAsked = destructive === undefined
  form.element.addEventListener('submit', (event) => {
    event.preventDefault()
    if (needsKey && !storedKey()) return askForKey()
    if (!isAsked) {
      isAsked = true
      submit.classList.replace('primary', 'danger')
      submit.textContent = `${label}: this changes your data. Really?`
      return
    }
    isAsked = destructive === undefined
    submit.classList.replace('danger', 'primary')
    submit.textContent = label
    void send(form, status, output)
  })
  button.after(form.element)
  form.element.querySelector<HTMLElement>('input, textarea, button')?.focus()
}

export function startTryIt(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('button.try') : null
    const section = button?.closest<HTMLElement>('.operation')
    if (!button || !section) return
    button.hidden = true
    open(section, button).catch(() => {
      loading = undefined
      button.hidden = false
      button.textContent = 'Not loaded. Try again'
    })
  })
}
