import { JOB_SLOTS } from '../../contract/facts.ts'

/** The slots of a transcoder (docs/decisions/0033, 0079): one accepts jobs of any size, the others only smaller and shorter jobs. */

/**
 * A job's first size class is the index of the first of these sizes that its source does not exceed. The order is the opposite of that of the slot
 * numbers.
 */
export const SIZE_CLASSES = JOB_SLOTS.toReversed()
export const SLOTS = JOB_SLOTS.length
export const sizeClassOf = (size: number) => SIZE_CLASSES.findIndex((most) => size <= most)
/** Whether a slot accepts jobs of a size class. */
export const fits = (slotNumber: number, size_class: number) => size_class <= SLOTS - 1 - (slotNumber % SLOTS)
