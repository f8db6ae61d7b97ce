/**
 * Heap of the orders that wait for a taker delay, by due time; equal times by arrival, which is the priority that they
 * would have had without a delay.
 */
import { type Column, DueHeap, type HeapParts } from './due-heap.ts';
import type { OrderRow } from './units.ts';

export class DelayedHeap extends DueHeap<OrderRow> {
  private readonly turns: Column<Int32Array>;

  /** @param turns later ones are lower */
  constructor(parts: HeapParts, turns: Column<Int32Array>) {
    super(parts);
    this.turns = turns;
  }

  protected override before(a: OrderRow, b: OrderRow): boolean {
    const left = this.timeOf(a);
    const right = this.timeOf(b);
    return left < right || (left === right && this.turnOf(a) > this.turnOf(b));
  }

  private turnOf(row: OrderRow): number {
    const { at, shift, view } = this.turns;
    return view[(row << shift) | at]!;
  }
}
