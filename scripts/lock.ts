import { readFileSync, writeFileSync } from 'node:fs'

/**
 * `npm run lock`: completes package-lock.json. Run it after every `npm install`. A registry mirror may lack the packages for other
 * platforms. npm then omits them from package-lock.json, and `npm ci` rejects the file. This script adds their names, versions and
 * platforms. npm fetches the packages on the machines that need them.
 */

interface Entry {
  version?: string
  optionalDependencies?: Record<string, string>
  [field: string]: unknown
}

const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const CPU = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64']

/** `@oxfmt/binding-linux-x64-musl` → linux, x64, musl; `@cloudflare/workerd-darwin-64` → darwin, x64. */
function platformOf(name: string) {
  const words = name.split(/[/-]/).map((word) => ({ windows: 'win32', 64: 'x64', eabi: 'arm' })[word] ?? word)
  const os = OS.find((value) => words.includes(value))
  const cpu = CPU.find((value) => words.includes(value))
  if (!os || !cpu) throw new Error(`package-lock.json lacks ${name}, whose platform cannot be derived from its name`)
  const libc = words.includes('musl')
    ? 'musl'
    : words.includes('gnu') || words.includes('gnueabihf')
      ? 'glibc'
      : undefined
  return { os: [os], cpu: [cpu], ...(libc && { libc: [libc] }) }
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> }
const { packages } = lock
const added: string[] = []
for (const [path, entry] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(path === '' ? {} : (entry.optionalDependencies ?? {}))) {
    const paths = [`${path}/node_modules/${name}`, `node_modules/${name}`]
    if (paths.some((key) => packages[key])) continue
    packages[`node_modules/${name}`] = { version, ...platformOf(name), dev: true, optional: true }
    added.push(name)
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length > 0 ? `added: ${added.join(', ')}` : 'package-lock.json is complete')
