/**
 * Heap of fill sequences, the newest at the top: the heads of merged chains. Taking the newest costs the logarithm of
 * their number.
 *
 * Thread: any; belongs to one walk.
 */
export class NewestHeap {
  private readonly items: number[];

  constructor(sequences: readonly number[]) {
    // An array in descending order is a heap.
    this.items = sequences.toSorted((a, b) => b - a);
  }

  get newest(): number | undefined {
    return this.items[0];
  }

  replaceNewest(older: number | undefined): void {
    const { items } = this;
    const moved = older ?? items.pop();
    if (moved === undefined || items.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1]! > items[child]!) child += 1;
      if (items[child]! <= moved) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = moved;
  }
}
