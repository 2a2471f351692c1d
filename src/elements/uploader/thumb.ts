import { button, icon, setAttributes } from '../shared/dom.ts'
import { icons } from './icons.ts'
import type { Item } from './item.ts'
import type { Texts } from './texts.ts'

const SIZE = 104

/** The square at the beginning of a row: shows the cover, and takes one. */
export function createThumb(item: Item, onPick: () => void) {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = SIZE
  canvas.hidden = true
  const root = button('thumb', onPick, icon(icons.note), canvas)
  let shown: File | undefined

  function update(texts: Texts): void {
    const { cover, state } = item
    const label = texts.of(cover ? texts.changeCover : texts.addCover, item.file.name)
    setAttributes(root, { 'aria-label': label, title: cover ? texts.changeCover : texts.addCover })
    root.disabled = state === 'rejected'
    root.dataset.cover = cover?.state ?? 'none'
    if (cover?.file === shown) return
    shown = cover?.file
    canvas.hidden = true
    if (shown) void draw(shown)
  }

  // Drawn, not shown by a blob: URL, which a strict Content-Security-Policy refuses.
  async function draw(file: File): Promise<void> {
    const picture = await createImageBitmap(file).catch(() => null)
    if (!picture || file !== shown) return
    const side = Math.min(picture.width, picture.height)
    const [x, y] = [(picture.width - side) / 2, (picture.height - side) / 2]
    canvas.getContext('2d')?.drawImage(picture, x, y, side, side, 0, 0, SIZE, SIZE)
    picture.close()
    canvas.hidden = false
  }
  return { root, update }
}
