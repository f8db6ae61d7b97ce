/** Damage of a file of columns. The message does not name the file. */
export class ColumnsDamaged extends Error {}
