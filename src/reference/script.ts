import { startDemos } from './demo.ts'
import { startKey } from './key.ts'
import { startNavigation } from './navigation.ts'
import { startSamples } from './samples.ts'
import { startSearch } from './search.ts'
import { startTryIt } from './try_it.ts'

/** The script of the pages below `/docs`, which can also be read without it. */
startSamples()
startNavigation()
startKey()
startSearch()
startTryIt()
startDemos()
