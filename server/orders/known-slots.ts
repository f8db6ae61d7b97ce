/**
 * Slots by the very texts under which they were found before: those who trade name the same tokens and
 * markets again and again, and reading a number of 78 digits takes longer than all else of looking one up.
 *
 * Registrations only ever appear, so what was found stays true; what was not found is not kept.
 *
 * Thread: a worker, with an instance of its own.
 */

/** Texts of one kind; when there are more, all are forgotten. */
const TEXTS_MAX = 4_096;

export class KnownSlots<Slot extends number> {
  private readonly slots = new Map<string, Slot>();
  private readonly look: (text: string) => Slot | 0;

  /** @param look finds a slot by its text, 0 = there is none */
  constructor(look: (text: string) => Slot | 0) {
    this.look = look;
  }

  find(text: string): Slot | 0 {
    const known = this.slots.get(text);
    if (known !== undefined) return known;
    const found = this.look(text);
    if (found === 0) return 0;
    if (this.slots.size >= TEXTS_MAX) this.slots.clear();
    this.slots.set(text, found);
    return found;
  }
}
