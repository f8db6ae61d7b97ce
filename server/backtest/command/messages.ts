/**
 * Lines between a run and the program of a strategy: a JSON object each. Events go to the program, which writes
 * actions and ends its reaction with `done`. Documented in docs/guides/backtests.md#strategies-in-other-languages
 */
import type {
  Book,
  Fill,
  Market,
  Order,
  OrderType,
  Side,
  Strategy,
  Trade,
  Venue,
} from '../strategy.ts';

type Called = Exclude<keyof Strategy, 'name' | 'everyMs' | 'onStart'>;

interface EventRow {
  readonly calls: Called;
  /** Members beside `type` and `time`. */
  readonly members: readonly string[];
  readonly of: (value: never) => object;
}

const marketOf = ({ id, minSize, outcomes, payout, question, state, tokens }: Market) => ({
  market: id,
  question,
  outcomes,
  tokens,
  state,
  payout: payout ?? null,
  minSize,
});
const MARKET = ['market', 'question', 'outcomes', 'tokens', 'state', 'payout', 'minSize'];

/** Events that a program may ask for. `start` and `timer` need no asking. */
export const EVENTS = {
  market: { calls: 'onMarket', members: MARKET, of: marketOf },
  book: {
    calls: 'onBook',
    members: ['token', 'market', 'bid', 'ask', 'mid', 'tick'],
    of: ({ ask, bid, market, mid, tick, token }: Book) => ({
      token,
      market: market.id,
      bid: bid ?? null,
      ask: ask ?? null,
      mid: mid ?? null,
      tick,
    }),
  },
  trade: {
    calls: 'onTrade',
    members: ['token', 'side', 'price', 'size'],
    of: (trade: Trade) => trade,
  },
  order: {
    calls: 'onOrder',
    members: ['order', 'token', 'side', 'price', 'size', 'filled', 'state', 'reason'],
    of: orderOf,
  },
  fill: {
    calls: 'onFill',
    members: [
      'order',
      'market',
      'token',
      'side',
      'price',
      'size',
      'fee',
      'role',
      'cash',
      'position',
    ],
    of: ({ cash, fee, market, order, position, price, role, side, size, token }: Fill) => ({
      order: order.id,
      market: market.id,
      token,
      side,
      price,
      size,
      fee,
      role,
      cash,
      position,
    }),
  },
  time: { calls: 'onTime', members: [], of: () => ({}) },
  resolved: { calls: 'onResolved', members: MARKET, of: marketOf },
  end: { calls: 'onEnd', members: [], of: () => ({}) },
} as const satisfies Readonly<Record<string, EventRow>>;

export type EventName = keyof typeof EVENTS;

/** State that actions need beside the venue. */
export interface Acting {
  readonly venue: Venue;
  readonly orders: Map<number, Order>;
  readonly markets: ReadonlyMap<string, Market>;
  readonly timer: (id: string) => void;
}

type Kind = 'text' | 'number' | 'boolean';
type Values = Readonly<Record<string, string | number | boolean | undefined>>;

interface ActionRow {
  readonly needs: Readonly<Record<string, Kind>>;
  readonly takes?: Readonly<Record<string, Kind>>;
  /** Members of the answer; absent if the action has none. */
  readonly answer?: readonly string[];
  readonly act: (acting: Acting, values: Values) => object | undefined;
}

const BALANCE = ['total', 'reserved', 'free'];

/** Actions of a program, beside `done`. */
export const ACTIONS: Readonly<Record<string, ActionRow>> = {
  place: {
    needs: { token: 'text', side: 'text', price: 'number', size: 'number' },
    takes: { orderType: 'text', postOnly: 'boolean', expiration: 'number', probability: 'number' },
    act: ({ orders, venue }, values) => {
      const { expiration, orderType, postOnly, price, probability, side, size, token } = values;
      const order = venue.place({
        token: token as string,
        side: side as Side,
        price: price as number,
        size: size as number,
        type: (orderType ?? 'GTC') as OrderType,
        postOnly: postOnly === true,
        expiration: (expiration ?? 0) as number,
        ...(probability === undefined ? {} : { probability: probability as number }),
      });
      orders.set(order.id, order);
      return undefined;
    },
  },
  cancel: {
    needs: { order: 'number' },
    act: ({ orders, venue }, { order }) => {
      const own = orders.get(order as number);
      if (own === undefined) throw new RangeError(`there is no order ${order}`);
      venue.cancel(own);
      return undefined;
    },
  },
  cancelAll: {
    needs: {},
    takes: { token: 'text' },
    act: ({ venue }, { token }) => {
      venue.cancelAll(token as string | undefined);
      return undefined;
    },
  },
  split: {
    needs: { market: 'text', size: 'number' },
    act: (acting, { market, size }) => {
      acting.venue.split(knownMarket(acting, market), size as number);
      return undefined;
    },
  },
  merge: {
    needs: { market: 'text', size: 'number' },
    act: (acting, { market, size }) => {
      acting.venue.merge(knownMarket(acting, market), size as number);
      return undefined;
    },
  },
  after: {
    needs: { ms: 'number', id: 'text' },
    act: ({ timer, venue }, { id, ms }) => {
      venue.after(ms as number, () => timer(id as string));
      return undefined;
    },
  },
  cash: { needs: {}, answer: BALANCE, act: ({ venue }) => venue.cash() },
  position: {
    needs: { token: 'text' },
    answer: BALANCE,
    act: ({ venue }, { token }) => venue.position(token as string),
  },
  openOrders: {
    needs: {},
    takes: { token: 'text' },
    answer: ['orders'],
    act: ({ venue }, { token }) => ({
      orders: venue.openOrders(token as string | undefined).map(orderOf),
    }),
  },
  levels: {
    needs: { token: 'text' },
    answer: ['bids', 'asks'],
    act: ({ venue }, { token }) => {
      const { asks, bids } = venue.book(token as string);
      return { bids, asks };
    },
  },
};

function orderOf({ filled, id, price, reason, side, size, state, token }: Order) {
  return { order: id, token, side, price, size, filled, state, reason };
}

function knownMarket({ markets }: Acting, id: unknown): Market {
  const market = markets.get(id as string);
  if (market === undefined) throw new RangeError(`the recording has no market ${String(id)}`);
  return market;
}

/** Parses a line to a JSON object with a `type`. Throws an Error that says what is wrong. */
export function parsedLine(line: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    // Reported below.
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('it is no JSON object');
  return parsed as Readonly<Record<string, unknown>>;
}

/** Checks an action and returns its members. Throws an Error that names member and rule. */
export function actionValues(name: string, message: Readonly<Record<string, unknown>>): Values {
  const row = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (row === undefined)
    throw new Error(`type is done, ${Object.keys(ACTIONS).join(', ')}, not "${name}"`);
  const { needs, takes = {} } = row;
  for (const [member, value] of Object.entries(message)) {
    if (member === 'type') continue;
    const kind = Object.hasOwn(needs, member) ? needs[member] : takes[member];
    if (kind === undefined) throw new Error(`${name} has no member ${member}`);
    if (typeof value !== (kind === 'text' ? 'string' : kind))
      throw new Error(`${member} of ${name} is a ${kind}, not ${JSON.stringify(value)}`);
  }
  for (const member of Object.keys(needs))
    if (message[member] === undefined) throw new Error(`${name} needs ${member}`);
  return message as Values;
}
