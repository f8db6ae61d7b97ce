/**
 * Cache of the rows of tokens and markets by their exact texts. Orders repeat the same tokens and markets,
 * and parsing a number of 78 digits takes longer than the rest of a lookup.
 *
 * Tokens and markets are never removed, so a found row stays right. A text without a row is not cached.
 *
 * Thread: a worker, with an instance of its own.
 */

/** Bound of the texts of one kind; beyond it all are dropped. */
const TEXTS_MAX = 4_096;

export class RowCache<Slot extends number> {
  private readonly rows = new Map<string, Slot>();
  private readonly lookUp: (text: string) => Slot | 0;

  /** @param lookUp finds a row by its text, 0 = there is none */
  constructor(lookUp: (text: string) => Slot | 0) {
    this.lookUp = lookUp;
  }

  find(text: string): Slot | 0 {
    const known = this.rows.get(text);
    if (known !== undefined) return known;
    const found = this.lookUp(text);
    if (found === 0) return 0;
    if (this.rows.size >= TEXTS_MAX) this.rows.clear();
    this.rows.set(text, found);
    return found;
  }
}
