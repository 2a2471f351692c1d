import { tarball, zip } from './archive.ts'
import { makePackages, type Tree, versionOf } from './packages.ts'
import { makePython } from './python.ts'

/** The archives below `/packages` (docs/packages.md). */

export interface Archive {
  /** Name of the package. */
  name: string
  version: string
  /** Name of the file below `/packages`. */
  file: string
  content: Uint8Array
}

/** Builds all archives. `examples` are the files below `examples`. */
export async function makeArchives(examples: Tree): Promise<Archive[]> {
  const version = await versionOf()
  const [{ client, elements }, python] = await Promise.all([makePackages(version), makePython(version)])
  const parts = new Map([...examples].map(([path, text]) => [path.slice('examples/'.length), text]))
  const archive = (name: string, file: string, content: Uint8Array): Archive => ({ name, version, file, content })
  return [
    archive('@tonearm/client', `tonearm-client-${version}.tgz`, await tarball(client, 'package')),
    archive('@tonearm/elements', `tonearm-elements-${version}.tgz`, await tarball(elements, 'package')),
    archive('tonearm', `tonearm-${version}-py3-none-any.whl`, await zip(python)),
    archive('tonearm-examples', `tonearm-examples-${version}.tgz`, await tarball(parts, 'examples')),
  ]
}
