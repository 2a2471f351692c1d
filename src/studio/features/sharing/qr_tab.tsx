import { t } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { NeedsLink } from './needs_link.tsx'
import type { EditedLink } from './use_link.ts'

/** Pixels of a downloaded picture, enough for 8 cm in print. */
const SIZE = 1024

/** The QR code of a link, as a picture to download. */
export const QrTab = ({ link }: { link: EditedLink }) => (
  <NeedsLink link={link} reason={t('The code contains a link, which also appears under Shares.')}>
    {({ slug, url }) => (
      <div class="qr">
        <img src={`/s/${slug}/qr.svg`} width={240} height={240} alt={t('QR code of {url}', { url })} />
        <div class="fields">
          <code>{url}</code>
          <p class="soft">{t('Print it at 2 cm or more. It works until the link ends, or gets another address.')}</p>
          <div class="actions">
            <a class="button" href={`/s/${slug}/qr.svg`} download={`${slug}.svg`}>
              {t('Download SVG')}
            </a>
            <Button onClick={() => downloadPng(slug)}>{t('Download PNG')}</Button>
          </div>
        </div>
      </div>
    )}
  </NeedsLink>
)

async function downloadPng(slug: string): Promise<void> {
  const image = new Image(SIZE, SIZE)
  image.src = `/s/${slug}/qr.svg`
  await image.decode()
  const canvas = Object.assign(document.createElement('canvas'), { width: SIZE, height: SIZE })
  canvas.getContext('2d')!.drawImage(image, 0, 0, SIZE, SIZE)
  Object.assign(document.createElement('a'), { href: canvas.toDataURL('image/png'), download: `${slug}.png` }).click()
}
