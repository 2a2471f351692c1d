import type { ComponentChildren } from 'preact'

/** The parts of the rows of tracks and of the files that are uploaded. */

/** Returns the place of a row in its table. */
export const place = (at: number, height: number) => ({ transform: `translateY(${at * height}px)` })

/** A cell, whose class determines its width. */
export const Cell = ({ name, children }: { name: string; children?: ComponentChildren }) => (
  <span role="gridcell" class={name}>
    {children}
  </span>
)
