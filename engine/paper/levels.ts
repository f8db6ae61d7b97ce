/**
 * One side of a source's book: micro-shares by price. A price is a key, as in the matching core: the pips of a bid,
 * and the pips of an ask counted down from 1 unit. So the best level has the highest key on both sides.
 *
 * Thread: that of its owner.
 */
import { Side } from '../commands.ts';
import { PIPS_PER_UNIT, type Pips } from '../tables/units.ts';

export function keyOf(side: number, pips: number): number {
  return side === Side.buy ? pips : PIPS_PER_UNIT - pips;
}

export function pipsOfKey(side: number, key: number): Pips {
  return keyOf(side, key) as Pips;
}

export class Levels {
  /** Ascending: the best is the last. */
  readonly keys: number[] = [];
  /** Micro-shares by key, above 0. */
  readonly sizes: number[] = [];

  /** 0 = empty. */
  get best(): number {
    return this.keys[this.keys.length - 1] ?? 0;
  }

  get(key: number): number {
    const at = this.find(key);
    return this.keys[at] === key ? this.sizes[at]! : 0;
  }

  set(key: number, size: number): void {
    const at = this.find(key);
    if (this.keys[at] === key) {
      if (size > 0) {
        this.sizes[at] = size;
      } else {
        this.keys.splice(at, 1);
        this.sizes.splice(at, 1);
      }
    } else if (size > 0) {
      this.keys.splice(at, 0, key);
      this.sizes.splice(at, 0, size);
    }
  }

  /** Sum of the levels from a key up to `end`, which is left out. */
  sum(from: number, end: number): number {
    let total = 0;
    for (let at = this.find(from); at < this.keys.length && this.keys[at]! < end; at++) {
      total += this.sizes[at]!;
    }
    return total;
  }

  clear(): void {
    this.keys.length = 0;
    this.sizes.length = 0;
  }

  private find(key: number): number {
    const { keys } = this;
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
