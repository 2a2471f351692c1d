import { useState } from 'preact/hooks'

import type { Failure } from '../api.ts'
import { explain } from '../format.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'
import { Form } from './form.tsx'
import { Message } from './states.tsx'

interface Properties {
  title: string
  label: string
  action: string
  /** Answers why it did not work. */
  make: (name: string) => Promise<Failure | undefined>
  onClose: () => void
}

/** Asks for the name of something new. */
export function NewThing({ title, label, action, make, onClose }: Properties) {
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<Failure>()
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => make(name.trim()).then((failure) => setProblem(failure))}>
        <TextField label={label} value={name} onInput={setName} required />
        <Message>{problem && explain(problem)}</Message>
        <div class="actions end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={name.trim() === ''}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
