import { t } from '../../base/text.ts'
import { longDay } from '../../ui/charts/days.ts'

/** Says that statistics start earlier than requested, because they are only known by month before. */
export const RoundedNote = ({ answer }: { answer: { from: string; is_rounded: boolean } }) =>
  answer.is_rounded ? (
    <p class="soft rounded-note">
      {t('Older days of tracks are kept as whole months, so these numbers start on {date}.', {
        date: longDay(answer.from),
      })}
    </p>
  ) : null
