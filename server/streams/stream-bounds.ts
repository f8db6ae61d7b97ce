/**
 * Bounds for one stream connection, and for all connections of one caller together: messages, names to look up, and
 * bytes, in one event-loop iteration and in ten seconds. Documents and metrics come from the same table.
 *
 * The library delivers all frames of one receive in one iteration, so a bound for seconds alone would let one receive
 * block the thread. Windows are fixed, so counting allocates nothing.
 *
 * Thread: the I/O thread. Non-goals: consequences of an exceeded bound (connection.ts).
 */
import type { Caller } from '../http/limits/callers.ts';
import type { Turns } from './pacer.ts';

export interface StreamLimits {
  readonly idleSeconds: number;
  /** Tokens, or markets, of one connection. */
  readonly subscriptionsMax: number;
  readonly connectionsMax: number;
  readonly backpressureBytes: number;
  /** Bounds of a caller, as a multiple of those of one connection. */
  readonly callerFactor: number;
  /** Default for messages that do not request or suppress an answer. */
  readonly acks: boolean;
}

type Unit = 'messages' | 'names' | 'bytes';
type Owner = 'connection' | 'caller';

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
/** Unit of the bounds: a client may subscribe with one message for each token, all at once. */
export const subscriptions = ({ subscriptionsMax }: BoundLimits): number =>
  Math.max(SUBSCRIPTIONS_LEAST, subscriptionsMax);

/** Bytes of a name. Messages name tokens and markets by texts of about 80 bytes. */
const NAME_BYTES = 128;
const MESSAGE_BYTES = 16 * 1024;

/** Maximum bytes of one message. A longer one ends the connection. */
export function messageBytesMax(subscriptionsMax: number): number {
  return MESSAGE_BYTES + NAME_BYTES * subscriptionsMax;
}
const messageBytes = (limits: BoundLimits): number => messageBytesMax(subscriptions(limits));

/** Amounts of one connection, at once and in a window. */
const AMOUNTS = {
  turn_messages: { unit: 'messages', per: 'turn', amount: (limits) => 2 * subscriptions(limits) },
  turn_bytes: { unit: 'bytes', per: 'turn', amount: (limits) => 8 * messageBytes(limits) },
  messages: { unit: 'messages', per: 'window', amount: (limits) => 4 * subscriptions(limits) },
  names: { unit: 'names', per: 'window', amount: (limits) => 20 * subscriptions(limits) },
  bytes: { unit: 'bytes', per: 'window', amount: (limits) => 50 * messageBytes(limits) },
} as const satisfies Readonly<Record<string, Omit<BoundRow, 'of'>>>;

/** Factor of a caller's bound at once; the factor for a window is a setting. */
const CALLER_TURN_FACTOR = 5;

export type BoundName = `${Owner}_${keyof typeof AMOUNTS}`;

const ROWS = (['connection', 'caller'] as const).flatMap((of) =>
  Object.entries<Omit<BoundRow, 'of'>>(AMOUNTS).map(([name, row]): [BoundName, BoundRow] => {
    const factor = ({ callerFactor }: BoundLimits): number => {
      if (of === 'connection') return 1;
      return row.per === 'turn' ? CALLER_TURN_FACTOR : callerFactor;
    };
    const amount = (limits: BoundLimits): number => factor(limits) * row.amount(limits);
    return [`${of}_${name}` as BoundName, { ...row, of, amount }];
  }),
);

export const STREAM_BOUNDS: ReadonlyMap<BoundName, BoundRow> = new Map(ROWS);

export function boundText(name: BoundName, limits: BoundLimits): string {
  const { amount, of, per, unit } = STREAM_BOUNDS.get(name)!;
  const counted = unit === 'names' ? 'names to look up' : unit;
  const span = per === 'turn' ? 'at once' : `in ${WINDOW_TEXT}`;
  const from = of === 'connection' ? 'on one connection' : 'from one address';
  return `more than ${amount(limits)} ${counted} ${span} ${from}`;
}

export function boundTexts(limits: BoundLimits): readonly (readonly [BoundName, string])[] {
  return ROWS.map(([name]) => [name, boundText(name, limits)]);
}

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

  /** Counts an amount of a unit. Returns the first exceeded bound. */
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

/**
 * Connections of a caller that get a reason when they are closed, in one window; further ones are closed without one.
 */
const REASONS_MAX = 3;

class SharedSpending extends Spending {
  connections = 0;
  private reasonsGiven = 0;

  /**
   * Returns true if one more connection gets a reason when it is closed. After a close frame the library reads and
   * discards bytes for 16 seconds. So a caller that reconnects and continues gets no close frame.
   */
  mayGiveReason(): boolean {
    this.reasonsGiven += 1;
    return this.reasonsGiven <= REASONS_MAX;
  }

  protected override forget(per: BoundRow['per']): void {
    super.forget(per);
    if (per === 'window') this.reasonsGiven = 0;
  }
}

export class Budget {
  readonly caller: SharedSpending;
  private readonly own: Spending;
  private readonly turns: Turns;

  constructor(caller: SharedSpending, limits: StreamLimits, turns: Turns) {
    this.caller = caller;
    this.own = new Spending('connection', limits);
    this.turns = turns;
  }

  /** Counts a message, or a ping without text. Returns the exceeded bound, if any. */
  message(bytes: number, now: number): BoundName | undefined {
    const turn = this.turns.current();
    return this.take('messages', 1, now, turn) ?? this.take('bytes', bytes, now, turn);
  }

  mayGiveReason(): boolean {
    return this.caller.mayGiveReason();
  }

  names(count: number, now: number): BoundName | undefined {
    return this.take('names', count, now, this.turns.current());
  }

  private take(unit: Unit, amount: number, now: number, turn: number): BoundName | undefined {
    return this.own.take(unit, amount, now, turn) ?? this.caller.take(unit, amount, now, turn);
  }
}

export class Budgets {
  private readonly limits: StreamLimits;
  private readonly turns: Turns;
  /** Callers with a connection, and callers whose window has not ended: reconnecting does not reset the counts. */
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

  sweep(now: number): void {
    for (const [key, caller] of this.callers) {
      if (caller.connections === 0 && caller.isOver(now)) this.callers.delete(key);
    }
  }
}
