import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

import { t } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'
import { Loading } from './states.tsx'

/**
 * Returns a component whose module is loaded when it is first shown. A module that fails to load, because the browser is offline or the service was
 * deployed again, can be requested once more by reloading the page. `waiting` is shown until the module is loaded.
 */
export function lazyPage<P extends object>(
  load: () => Promise<ComponentType<P>>,
  waiting: ComponentChildren = <Loading rows={5} />,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function LazyPage(properties: P) {
    const [state, setState] = useState<'loading' | 'failed' | 'loaded'>(loaded ? 'loaded' : 'loading')
    useEffect(() => {
      if (loaded) return
      void (async () => {
        loaded = await load().catch(() => undefined)
        setState(loaded ? 'loaded' : 'failed')
      })()
    }, [])
    const Page = loaded
    if (Page) return <Page {...properties} />
    if (state === 'loading') return <>{waiting}</>
    return (
      <div class="problem" role="alert">
        <p>{t('This page could not be loaded.')}</p>
        <Button small onClick={() => location.reload()}>
          {t('Reload')}
        </Button>
      </div>
    )
  }
}
