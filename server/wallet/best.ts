/**
 * First `count` items of a stream in the order of a key, in memory bounded by that number: a heap whose root is the
 * last of them. No step sorts all items: adding an item, or reading one of a page, costs a few comparisons. The heap
 * is stored in columns, because ten thousand small objects take several milliseconds to collect.
 *
 * Thread: any; pure.
 */

/** All keys of one stream have the same type. */
export type SortKey = number | string;

export class Best<T> {
  private readonly count: number;
  private readonly isDescending: boolean;
  /** Columns of the heap: the children of an item are at twice its index plus one and plus two. */
  private readonly items: T[] = [];
  private readonly keys: SortKey[] = [];
  private readonly places: number[] = [];
  private added = 0;

  constructor(count: number, isDescending: boolean) {
    this.count = count;
    this.isDescending = isDescending;
  }

  /** Adds an item. Returns the dropped item: this one, an earlier one, or none. */
  add(item: T, key: SortKey): T | undefined {
    const { count, items } = this;
    const place = this.added;
    this.added += 1;
    if (items.length < count) {
      this.rise(item, key, place);
      return undefined;
    }
    // Of equal keys the earlier item comes first.
    if (count === 0 || !this.isBefore(key, place, 0)) return item;
    const dropped = items[0];
    this.sink(item, key, place);
    return dropped;
  }

  /**
   * Returns the items from an offset on, in order; of equal keys the one that was added first comes first. The heap
   * cannot be used afterwards.
   */
  from(offset: number): T[] {
    const { items, keys, places } = this;
    const best = new Array<T>(Math.max(0, items.length - offset));
    for (let at = best.length - 1; at >= 0; at--) {
      best[at] = items[0]!;
      const item = items.pop()!;
      const key = keys.pop()!;
      const place = places.pop()!;
      if (items.length > 0) this.sink(item, key, place);
    }
    return best;
  }

  private rise(item: T, key: SortKey, place: number): void {
    let at = this.items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.isBefore(key, place, parent)) break;
      this.move(parent, at);
      at = parent;
    }
    this.set(at, item, key, place);
  }

  private sink(item: T, key: SortKey, place: number): void {
    const { items, keys, places } = this;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.isBefore(keys[child]!, places[child]!, right)) child = right;
      if (!this.isBefore(key, place, child)) break;
      this.move(child, at);
      at = child;
    }
    this.set(at, item, key, place);
  }

  private move(from: number, to: number): void {
    this.set(to, this.items[from]!, this.keys[from]!, this.places[from]!);
  }

  private set(at: number, item: T, key: SortKey, place: number): void {
    this.items[at] = item;
    this.keys[at] = key;
    this.places[at] = place;
  }

  private isBefore(key: SortKey, place: number, at: number): boolean {
    const other = this.keys[at]!;
    if (key === other) return place < this.places[at]!;
    return key < other !== this.isDescending;
  }
}
