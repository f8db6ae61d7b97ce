/**
 * The queue rules by plain loops: each paper order keeps everything that happened at its level
 * since it came, and its position is computed from the beginning each time.
 */
import type { QueueRule } from '../../engine/paper/place.ts';

const WINDOW = 2_000;

type Happened =
  | { readonly kind: 'print'; readonly size: number; readonly time: number }
  | { readonly kind: 'size'; readonly from: number; readonly to: number; readonly time: number };

interface Open {
  size: number;
  from: number;
  readonly to: number;
  readonly time: number;
}

export class NaivePlace {
  private readonly start: number;
  /** Decreases shortly before it came, which a later print may explain. */
  private readonly before: readonly Open[];
  private readonly history: Happened[] = [];
  private readonly rule: QueueRule;

  constructor(start: number, before: readonly Open[], rule: QueueRule) {
    this.start = start;
    this.before = before;
    this.rule = rule;
  }

  add(happened: Happened): void {
    this.history.push(happened);
  }

  /** Part of a print of `size` at `time` that reaches it. */
  reached(size: number, time: number): number {
    let ahead = this.start;
    const before = this.before.map((open) => ({ ...open }));
    let prints: Open[] = [];
    let cancels: Open[] = [];
    const settle = (now: number): void => {
      prints = prints.filter((print) => isNear(now, print));
      for (const cancel of cancels) {
        if (cancel.size > 0 && isNear(now, cancel)) continue;
        const behind = Math.max(0, cancel.from - ahead);
        ahead = Math.min(cancel.to, ahead - this.leftAhead(ahead, behind, cancel.size));
      }
      cancels = cancels.filter((cancel) => cancel.size > 0 && isNear(now, cancel));
    };
    const trade = (of: number, now: number): number => {
      settle(now);
      const recent = before.filter((open) => isNear(now, open));
      const later = explain(recent, of, true);
      const got = Math.max(0, later - ahead);
      ahead = Math.max(0, ahead - later);
      const rest = explain(cancels, later, true);
      prints.push({ size: rest, from: 0, to: 0, time: now });
      settle(now);
      return got;
    };
    for (const event of this.history) {
      if (event.kind === 'print') {
        trade(event.size, event.time);
      } else {
        settle(event.time);
        if (event.to >= event.from) continue;
        const rest = explain(prints, event.from - event.to, false);
        cancels.push({ size: rest, from: event.to + rest, to: event.to, time: event.time });
        settle(event.time);
      }
    }
    return trade(size, time);
  }

  /** Rest of a cancelled size when the part that stood behind, rounded up, is taken off. */
  private leftAhead(ahead: number, behind: number, cancelled: number): number {
    if (this.rule === 'pessimistic' || cancelled === 0 || ahead === 0) return 0;
    const power = this.rule === 'proportional' ? 1 : Number(this.rule.slice('power:'.length));
    const powerOf = (size: number): bigint => {
      let product = 1n;
      for (let i = 0; i < power; i++) product *= BigInt(size);
      return product;
    };
    const [front, back] = [powerOf(ahead), powerOf(behind)];
    const whole = front + back;
    const ofBehind = (BigInt(cancelled) * back + whole - 1n) / whole;
    return Math.min(ahead, cancelled - Number(ofBehind));
  }
}

function isNear(time: number, of: { readonly time: number }): boolean {
  return Math.abs(time - of.time) <= WINDOW;
}

/** Takes `size` off the oldest of a list; returns the missing rest. */
function explain(list: Open[], size: number, isOfLevel: boolean): number {
  let rest = size;
  for (const open of list) {
    const part = Math.min(open.size, rest);
    open.size -= part;
    if (isOfLevel) open.from -= part;
    rest -= part;
  }
  return rest;
}

export class NaiveLevel {
  private open: Open[] = [];
  private prints: Open[] = [];

  print(size: number, time: number): void {
    this.pass(time);
    const rest = explain(this.open, size, true);
    this.prints.push({ size: rest, from: 0, to: 0, time });
  }

  resized(from: number, to: number, time: number): void {
    this.pass(time);
    if (to >= from) return;
    const rest = explain(this.prints, from - to, false);
    this.open.push({ size: rest, from, to, time });
  }

  /** Decreases that a later print may explain. */
  recent(time: number): Open[] {
    this.pass(time);
    return this.open.map((open) => ({ ...open }));
  }

  private pass(time: number): void {
    this.open = this.open.filter((open) => isNear(time, open));
    this.prints = this.prints.filter((open) => isNear(time, open));
  }
}
