/**
 * The first so many of a stream of items in the order of a key, in memory bounded by that number: what
 * has no place among them any more is dropped now and then.
 *
 * Thread: any; pure.
 */

/** All keys of one stream are of one type. */
export type SortKey = number | string;

interface Placed<T> {
  readonly item: T;
  readonly key: SortKey;
  readonly place: number;
}

/**
 * Beside those that are kept. What is kept is in order already, so that a sort with so few more goes once
 * through them: a millisecond with the largest page.
 */
const SPARE = 1_024;

export class Best<T> {
  private readonly count: number;
  private readonly sign: 1 | -1;
  private items: Placed<T>[] = [];
  private places = 0;

  /** @param count how many are wanted @param isDescending largest key first */
  constructor(count: number, isDescending: boolean) {
    this.count = count;
    this.sign = isDescending ? -1 : 1;
  }

  add(item: T, key: SortKey): void {
    this.items.push({ item, key, place: this.places });
    this.places += 1;
    if (this.items.length >= this.count + SPARE) this.cut();
  }

  /** In order; of equal keys the one that was added first is first. */
  from(offset: number): T[] {
    this.cut();
    return this.items.slice(offset).map(({ item }) => item);
  }

  private cut(): void {
    const { sign } = this;
    this.items.sort((a, b) => (a.key === b.key ? a.place - b.place : a.key < b.key ? -sign : sign));
    this.items = this.items.slice(0, this.count);
  }
}
