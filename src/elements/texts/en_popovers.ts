import type { PopoverTexts } from './texts.ts'

/** The English texts of the player's popovers, which are loaded with them. */
export const popovers: PopoverTexts = {
  link: 'Link',
  copyLink: 'Copy link',
  copyLinkAt: 'Copy link at {time}',
  linkToPart: 'Link to a part',
  startAt: 'Start at',
  endAt: 'End at',
  now: 'Now',
  copied: 'Copied',
  off: 'Off',
  minutes: '{minutes} minutes',
  endOfTrack: 'End of the track',
  keys: 'Keyboard shortcuts',
  remote: 'Play on another device',
  nextChapter: 'Next chapter',
  previousChapter: 'Previous chapter',
}
