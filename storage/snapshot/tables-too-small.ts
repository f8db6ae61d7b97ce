/** Tables of the configured sizes do not hold what log or snapshot have; the message names what is too small. */
export class TablesTooSmall extends Error {}
