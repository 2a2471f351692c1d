import { fetchWith } from '../../base/api.ts'
import { t } from '../../base/text.ts'
import { downloadText } from '../../ui/controls/download.ts'
import { announce } from '../../ui/page/announce.ts'

/** Downloads the answer of an operation as CSV. */
export async function downloadCsv(api_key: string, path: string, file_name: string): Promise<void> {
  const response = await fetchWith(api_key)(path, { headers: { accept: 'text/csv' } }).catch(() => undefined)
  // Without the byte order mark, Excel does not read UTF-8.
  if (response?.ok) downloadText(file_name, 'text/csv', `\uFEFF${await response.text()}`)
  else announce(t('The file could not be loaded. Try again.'))
}
