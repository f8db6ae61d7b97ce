/**
 * What one stream connection, and all connections of one caller together, may send and ask for: messages,
 * names to look up, and bytes, in one turn of the event loop and in ten seconds. The table is what the
 * documents and the metrics say too.
 *
 * The library hands over every frame of a receive in one turn, so a bound for a second alone would let
 * one receive hold the thread. Fixed windows: counting allocates nothing.
 *
 * Thread: the I/O thread. Not here: what is done about a message that is too much (connection.ts).
 */
import type { Caller } from '../http/callers.ts';
import type { Turns } from './pacer.ts';
import type { StreamLimits } from './stream-limits.ts';

type Unit = 'messages' | 'names' | 'bytes';
type Owner = 'connection' | 'caller';

/** What the amounts follow from. */
export type BoundLimits = Pick<StreamLimits, 'callerFactor' | 'subscriptionsMax'>;

interface BoundRow {
  readonly of: Owner;
  readonly unit: Unit;
  readonly per: 'turn' | 'window';
  readonly amount: (limits: BoundLimits) => number;
}

const WINDOW_MS = 10_000;
const WINDOW_TEXT = '10 seconds';

const SUBSCRIPTIONS_LEAST = 500;
/** What the bounds are reckoned by: a client may subscribe with a message for each token, all at once. */
export const subscriptions = ({ subscriptionsMax }: BoundLimits): number =>
  Math.max(SUBSCRIPTIONS_LEAST, subscriptionsMax);

/** A message names tokens and markets by texts of about 80 bytes. */
const NAME_BYTES = 128;
const MESSAGE_BYTES = 16 * 1024;

/** Bytes of one message: a longer one cuts the connection. */
export function messageBytesMax(subscriptionsMax: number): number {
  return MESSAGE_BYTES + NAME_BYTES * subscriptionsMax;
}
const messageBytes = (limits: BoundLimits): number => messageBytesMax(subscriptions(limits));

/** Of a turn; that of a window is a setting. */
const CALLER_TURN_FACTOR = 5;

/** By the name under which a metric counts who went beyond it. */
export const STREAM_BOUNDS = {
  connection_turn_messages: {
    of: 'connection',
    unit: 'messages',
    per: 'turn',
    amount: (limits) => 2 * subscriptions(limits),
  },
  connection_turn_bytes: {
    of: 'connection',
    unit: 'bytes',
    per: 'turn',
    amount: (limits) => 8 * messageBytes(limits),
  },
  connection_messages: {
    of: 'connection',
    unit: 'messages',
    per: 'window',
    amount: (limits) => 4 * subscriptions(limits),
  },
  connection_names: {
    of: 'connection',
    unit: 'names',
    per: 'window',
    amount: (limits) => 20 * subscriptions(limits),
  },
  connection_bytes: {
    of: 'connection',
    unit: 'bytes',
    per: 'window',
    amount: (limits) => 50 * messageBytes(limits),
  },
  caller_turn_messages: {
    of: 'caller',
    unit: 'messages',
    per: 'turn',
    amount: (limits) => CALLER_TURN_FACTOR * 2 * subscriptions(limits),
  },
  caller_turn_bytes: {
    of: 'caller',
    unit: 'bytes',
    per: 'turn',
    amount: (limits) => CALLER_TURN_FACTOR * 8 * messageBytes(limits),
  },
  caller_messages: {
    of: 'caller',
    unit: 'messages',
    per: 'window',
    amount: (limits) => limits.callerFactor * 4 * subscriptions(limits),
  },
  caller_names: {
    of: 'caller',
    unit: 'names',
    per: 'window',
    amount: (limits) => limits.callerFactor * 20 * subscriptions(limits),
  },
  caller_bytes: {
    of: 'caller',
    unit: 'bytes',
    per: 'window',
    amount: (limits) => limits.callerFactor * 50 * messageBytes(limits),
  },
} as const satisfies Readonly<Record<string, BoundRow>>;

export type BoundName = keyof typeof STREAM_BOUNDS;

const ROWS = Object.entries(STREAM_BOUNDS) as readonly (readonly [BoundName, BoundRow])[];

/** What a connection is told that went beyond a bound, and what the documents say of it. */
export function boundText(name: BoundName, limits: BoundLimits): string {
  const { amount, of, per, unit }: BoundRow = STREAM_BOUNDS[name];
  const counted = unit === 'names' ? 'names to look up' : unit;
  const span = per === 'turn' ? 'at once' : `in ${WINDOW_TEXT}`;
  const from = of === 'connection' ? 'on one connection' : 'from one address';
  return `more than ${amount(limits)} ${counted} ${span} ${from}`;
}

/** Every bound, by name. */
export function boundTexts(limits: BoundLimits): readonly (readonly [BoundName, string])[] {
  return ROWS.map(([name]) => [name, boundText(name, limits)]);
}

/** What one connection, or one caller, has taken. */
class Spending {
  private readonly rows: readonly (readonly [BoundName, BoundRow])[];
  private readonly caps: Float64Array;
  private readonly counts: Float64Array;
  private endsAt = 0;
  private turn = -1;

  constructor(owner: Owner, limits: StreamLimits) {
    this.rows = OWNED[owner];
    this.caps = Float64Array.from(this.rows, ([, row]) => row.amount(limits));
    this.counts = new Float64Array(this.rows.length);
  }

  /** Counts so much of a unit; the first bound that it goes beyond. */
  take(unit: Unit, amount: number, now: number, turn: number): BoundName | undefined {
    const { caps, counts, rows } = this;
    if (now >= this.endsAt) {
      this.endsAt = now + WINDOW_MS;
      this.forget('window');
    }
    if (turn !== this.turn) {
      this.turn = turn;
      this.forget('turn');
    }
    for (let i = 0; i < rows.length; i++) {
      if (rows[i]![1].unit !== unit) continue;
      counts[i]! += amount;
      if (counts[i]! > caps[i]!) return rows[i]![0];
    }
    return undefined;
  }

  isOver(now: number): boolean {
    return now >= this.endsAt;
  }

  protected forget(per: BoundRow['per']): void {
    for (let i = 0; i < this.rows.length; i++) {
      if (this.rows[i]![1].per === per) this.counts[i] = 0;
    }
  }
}

const OWNED = {
  connection: ROWS.filter(([, { of }]) => of === 'connection'),
  caller: ROWS.filter(([, { of }]) => of === 'caller'),
};

/** Connections of a caller that are told in a window why they are closed; others are cut. */
const TOLD_MAX = 3;

/** What all connections of one caller have taken. */
class SharedSpending extends Spending {
  connections = 0;
  private told = 0;

  /**
   * Whether one more connection is told why it is closed. The library reads on, and ignores what comes, for 16
   * seconds after a close frame: whoever comes back and goes on gets none.
   */
  mayBeTold(): boolean {
    this.told += 1;
    return this.told <= TOLD_MAX;
  }

  protected override forget(per: BoundRow['per']): void {
    super.forget(per);
    if (per === 'window') this.told = 0;
  }
}

/** The budget of one connection, with that of its caller. */
export class Budget {
  /** The same object for all connections of a caller. */
  readonly caller: SharedSpending;
  private readonly own: Spending;
  private readonly turns: Turns;

  constructor(caller: SharedSpending, limits: StreamLimits, turns: Turns) {
    this.caller = caller;
    this.own = new Spending('connection', limits);
    this.turns = turns;
  }

  /** Counts a message, or a ping without a text; the bound that it goes beyond. */
  message(bytes: number, now: number): BoundName | undefined {
    const turn = this.turns.current();
    return this.take('messages', 1, now, turn) ?? this.take('bytes', bytes, now, turn);
  }

  mayBeTold(): boolean {
    return this.caller.mayBeTold();
  }

  names(count: number, now: number): BoundName | undefined {
    return this.take('names', count, now, this.turns.current());
  }

  private take(unit: Unit, amount: number, now: number, turn: number): BoundName | undefined {
    return this.own.take(unit, amount, now, turn) ?? this.caller.take(unit, amount, now, turn);
  }
}

/** The budgets of all connections. */
export class Budgets {
  private readonly limits: StreamLimits;
  private readonly turns: Turns;
  /** Those with a connection, and those whose window has not ended: to connect anew gives nothing back. */
  private readonly callers = new Map<string, SharedSpending>();

  constructor(limits: StreamLimits, turns: Turns) {
    this.limits = limits;
    this.turns = turns;
  }

  open({ high, low }: Caller): Budget {
    const key = `${high} ${low}`;
    let caller = this.callers.get(key);
    if (caller === undefined) {
      caller = new SharedSpending('caller', this.limits);
      this.callers.set(key, caller);
    }
    caller.connections += 1;
    return new Budget(caller, this.limits, this.turns);
  }

  close({ caller }: Budget): void {
    caller.connections -= 1;
  }

  /** Forgets callers that are gone. */
  sweep(now: number): void {
    for (const [key, caller] of this.callers) {
      if (caller.connections === 0 && caller.isOver(now)) this.callers.delete(key);
    }
  }
}
