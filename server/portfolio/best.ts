/**
 * The first so many of a stream of items in the order of a key, in memory bounded by that number: a heap
 * whose root is the last of them. No step of it sorts, so that none takes long: to add costs a few
 * comparisons, to read a page as many for each of its items.
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

export class Best<T> {
  private readonly count: number;
  private readonly isDescending: boolean;
  /** Each stands behind its children, at twice its index and one or two more. */
  private readonly heap: Placed<T>[] = [];
  private places = 0;

  /** @param count how many are wanted @param isDescending largest key first */
  constructor(count: number, isDescending: boolean) {
    this.count = count;
    this.isDescending = isDescending;
  }

  /** Whether the next item would be kept with such a key: of equal ones those before it go first. */
  private wants(key: SortKey): boolean {
    const { count, heap } = this;
    if (heap.length < count) return true;
    const [last] = heap;
    return last !== undefined && this.isBefore(key, this.places, last);
  }

  /** What has no place any more: the item itself, one before it, or none. */
  add(item: T, key: SortKey): T | undefined {
    const { count, heap } = this;
    const isWanted = this.wants(key);
    const placed = { item, key, place: this.places };
    this.places += 1;
    if (!isWanted) return item;
    if (heap.length < count) {
      this.rise(placed);
      return undefined;
    }
    const dropped = heap[0]!.item;
    this.sink(placed);
    return dropped;
  }

  /** Those from a place on, in order; of equal keys the one that was added first is first. It ends it. */
  from(offset: number): T[] {
    const { heap } = this;
    const items = new Array<T>(Math.max(0, heap.length - offset));
    for (let place = items.length - 1; place >= 0; place--) {
      items[place] = heap[0]!.item;
      const last = heap.pop()!;
      if (heap.length > 0) this.sink(last);
    }
    return items;
  }

  /** Lets one in at the end. */
  private rise(placed: Placed<T>): void {
    const { heap } = this;
    let at = heap.length;
    while (at > 0) {
      const parent = heap[(at - 1) >> 1]!;
      if (!this.isBefore(parent.key, parent.place, placed)) break;
      heap[at] = parent;
      at = (at - 1) >> 1;
    }
    heap[at] = placed;
  }

  /** Lets one in at the root, in place of the one there. */
  private sink(placed: Placed<T>): void {
    const { heap } = this;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && this.isBefore(heap[child]!.key, heap[child]!.place, right)) {
        child += 1;
      }
      if (!this.isBefore(placed.key, placed.place, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = placed;
  }

  private isBefore(key: SortKey, place: number, other: Placed<T>): boolean {
    if (key === other.key) return place < other.place;
    return key < other.key !== this.isDescending;
  }
}
