import { IMPORT_SLOTS, JOB_SLOTS } from '../../contract/facts.ts'

/**
 * The slots of a transcoder (docs/decisions/0033, 0079): one accepts jobs of any size, two only smaller and shorter jobs, and the last ones only imports,
 * which wait for other servers (docs/decisions/0127).
 */

/**
 * A job's first size class is the index of the first of these sizes that its source does not exceed. The order is the opposite of that of the slot
 * numbers.
 */
export const SIZE_CLASSES = JOB_SLOTS.toReversed()
export const SLOTS = JOB_SLOTS.length
export const sizeClassOf = (size: number) => SIZE_CLASSES.findIndex((most) => size <= most)
/** The size class of imports. */
export const IMPORT_CLASS = SIZE_CLASSES.length
/** Number of slots of a transcoder, with those of imports. */
const ALL_SLOTS = SLOTS + IMPORT_SLOTS
/** Returns the transcoder to which a slot belongs. */
export const instanceOfSlot = (slotNumber: number) => Math.floor(slotNumber / ALL_SLOTS)
/** Returns the slots of a transcoder, the smallest first. */
export const slotsOf = (instance: number) =>
  Array.from({ length: ALL_SLOTS }, (_, index) => instance * ALL_SLOTS + index).toReversed()
/** Whether a slot accepts jobs of a size class. */
export function fits(slotNumber: number, size_class: number): boolean {
  const index = slotNumber % ALL_SLOTS
  return index < SLOTS ? size_class <= SLOTS - 1 - index : size_class === IMPORT_CLASS
}
