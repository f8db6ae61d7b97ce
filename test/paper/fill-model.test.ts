import assert from 'node:assert/strict';
import test from 'node:test';
import { audit } from '../../engine/audit.ts';
import { CommandBuffer, commandWords } from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { DoubleReports } from '../../engine/paper/double-reports.ts';
import { type Impact, MirroredBook } from '../../engine/paper/mirrored-book.ts';
import { MirroredMarket } from '../../engine/paper/mirrored-market.ts';
import {
  EngineOrders,
  type PaperOrder,
  type PaperOrders,
} from '../../engine/paper/paper-orders.ts';
import { QUEUE_RULES, type QueueRule } from '../../engine/paper/place.ts';
import type { SourceLevel } from '../../engine/paper/source-book.ts';
import { Simulator } from '../../engine/simulator.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { MicroShares, TicksPerUnit, TokenRow } from '../../engine/tables/units.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import { readEvents } from '../../storage/recordings/source-message.ts';
import { said } from './said.ts';

const SMALL = {
  markets: 2,
  tokens: 8,
  accounts: 8,
  orders: 64,
  levels: 8_192,
  trades: 64,
  history: 64,
  positions: 16,
};
const SHARE = 1_000_000;
const BUY = 0;
const SELL = 1;

interface Resting {
  readonly number: number;
  readonly side: number;
  readonly price: number;
  remaining: number;
}

/** Paper orders and levels of an engine, set by hand. */
class Desk implements PaperOrders {
  ticksPerUnit: TicksPerUnit = 100;
  readonly orders: Resting[] = [];
  /** Levels of the source, by side and pips. */
  readonly stands = new Map<string, number>();

  rest(number: number, side: number, price: number, shares: number): void {
    this.orders.push({ number, side, price, remaining: shares * SHARE });
  }

  at(side: number, pips: number): PaperOrder[] {
    return this.orders
      .filter((order) => order.side === side && pipsOf(order.price) === pips)
      .map(({ number, remaining }) => ({ id: idOf(number), remaining: remaining as MicroShares }));
  }

  before(side: number, pips: number): PaperOrder[] {
    const isBetter = (p: number): boolean => (side === BUY ? p > pips : p < pips);
    return this.orders
      .filter((order) => order.side === side && isBetter(pipsOf(order.price)))
      .sort((a, b) => (side === BUY ? b.price - a.price : a.price - b.price))
      .map(({ number, remaining }) => ({ id: idOf(number), remaining: remaining as MicroShares }));
  }

  sourceAt(side: number, pips: number): number {
    return this.stands.get(`${side} ${pips}`) ?? 0;
  }

  changeTicks(): never {
    throw new Error('its ticks are set by hand');
  }

  sourceLevels(side: number): SourceLevel[] {
    return [...this.stands]
      .filter(([name]) => name.startsWith(`${side} `))
      .map(([name, size]) => ({ pips: Number(name.slice(2)), size }));
  }
}

function idOf(number: number): Int32Array {
  const id = new Int32Array(ID_WORDS);
  id[ID_WORDS - 1] = number;
  return id;
}

function pipsOf(price: number): number {
  return Math.round(price * 10_000);
}

function play(market: MirroredMarket, message: JsonObject, out: CommandBuffer): void {
  for (const event of readEvents(message)) if ('token' in event) market.apply(event, out);
}

/**
 * A book with its desk, and the commands for each message. Prices and sizes in units and shares.
 */
function scene({
  impact = 'keep',
  queue = 'pessimistic',
}: {
  impact?: Impact;
  queue?: QueueRule;
} = {}) {
  const desk = new Desk();
  const out = new CommandBuffer();
  const book = new MirroredBook({ token: 1 as TokenRow, impact, queue, paper: desk });
  type Level = readonly [price: number, shares: number];
  const levels = (list: readonly Level[]): SourceLevel[] =>
    list.map(([price, shares]) => ({ pips: pipsOf(price), size: shares * SHARE }));
  const answer = (): string[] => said(out);
  return {
    desk,
    book,
    at: (time: number): void => {
      book.time = time;
    },
    snapshot: (bids: readonly Level[], asks: readonly Level[]): string[] => {
      book.snapshot(levels(bids), levels(asks), out);
      return answer();
    },
    change: (side: number, price: number, shares: number): string[] => {
      book.change(side, pipsOf(price), shares * SHARE, out);
      return answer();
    },
    changes: (...list: readonly (readonly [number, number, number])[]): string[] => {
      const changes = list.map(([side, price, shares]) => ({
        side,
        pips: pipsOf(price),
        size: shares * SHARE,
      }));
      book.changes(changes, out);
      return answer();
    },
    print: (side: number, price: number, shares: number): string[] => {
      book.print(side, pipsOf(price), shares * SHARE, out);
      return answer();
    },
  };
}

test('a snapshot gives the differences, removed levels first', () => {
  const { snapshot } = scene();
  assert.deepEqual(snapshot([[0.4, 100]], [[0.5, 20]]), [
    'level buy 0.40 100',
    'level sell 0.50 20',
  ]);
  assert.deepEqual(snapshot([[0.4, 100]], [[0.5, 20]]), []);
  assert.deepEqual(snapshot([[0.5, 7]], [[0.6, 20]]), [
    'level buy 0.40 0',
    'level sell 0.50 0',
    'level buy 0.50 7',
    'level sell 0.60 20',
  ]);
});

test('changes of one message count together, in any order', () => {
  const { changes, snapshot } = scene();
  snapshot([[0.4, 100]], [[0.5, 20]]);
  assert.deepEqual(changes([BUY, 0.52, 5], [SELL, 0.5, 0], [SELL, 0.55, 9]), [
    'level sell 0.50 0',
    'level buy 0.52 5',
    'level sell 0.55 9',
  ]);
});

test('source levels that cross each other are withdrawn until they no longer cross', () => {
  const { change, snapshot, book } = scene();
  snapshot(
    [[0.4, 100]],
    [
      [0.5, 20],
      [0.6, 30],
    ],
  );
  assert.deepEqual(change(BUY, 0.5, 5), ['level sell 0.50 0']);
  assert(book.source.crossed);
  assert.deepEqual(change(BUY, 0.41, 1), ['level buy 0.41 1']);
  assert.deepEqual(change(SELL, 0.5, 0), ['level buy 0.50 5']);
  assert(!book.source.crossed);
});

test('prices between two ticks count at the one away from the spread', () => {
  const { change, desk, snapshot } = scene();
  desk.ticksPerUnit = 100;
  assert.deepEqual(
    snapshot(
      [
        [0.405, 3],
        [0.4, 4],
      ],
      [
        [0.505, 5],
        [0.51, 6],
      ],
    ),
    ['level buy 0.40 7', 'level sell 0.51 11'],
  );
  assert.deepEqual(change(BUY, 0.405, 1), ['level buy 0.40 5']);
  assert.deepEqual(change(SELL, 0.505, 0), ['level sell 0.51 6']);
});

test('a coarser grid moves the levels that are not on it', () => {
  const { change, desk, snapshot } = scene();
  desk.ticksPerUnit = 1_000;
  assert.deepEqual(snapshot([[0.402, 3]], [[0.6, 5]]), ['level buy 0.40 3', 'level sell 0.60 5']);
  desk.ticksPerUnit = 100;
  // The engine has ended the level at 0.402 with its tick.
  assert.deepEqual(change(SELL, 0.6, 6), ['level buy 0.40 3', 'level sell 0.60 6']);
});

test('size that paper orders took stays taken until the level changes, or returns', () => {
  for (const impact of ['keep', 'restore'] as const) {
    const { change, desk, snapshot } = scene({ impact });
    snapshot(
      [[0.4, 100]],
      [
        [0.5, 20],
        [0.6, 30],
      ],
    );
    desk.stands.set(`${BUY} 4000`, 100 * SHARE);
    // A paper order took all of the best ask and a part of the next one.
    desk.stands.set(`${SELL} 6000`, 12 * SHARE);
    const isKept = impact === 'keep';
    assert.deepEqual(
      change(BUY, 0.3, 1),
      isKept
        ? ['level buy 0.30 1']
        : ['level buy 0.30 1', 'level sell 0.50 20', 'level sell 0.60 30'],
    );
    assert.deepEqual(
      change(SELL, 0.5, 20),
      isKept ? [] : ['level sell 0.50 20', 'level sell 0.60 30'],
    );
    const [first] = change(SELL, 0.5, 19);
    assert.equal(first, 'level sell 0.50 19');
  }
});

test('an order waits for the size that the source had when it came, and not for later size', () => {
  const { change, desk, print, snapshot } = scene();
  snapshot([[0.4, 100]], []);
  desk.rest(1, BUY, 0.4, 10);
  change(BUY, 0.4, 500);
  desk.rest(2, BUY, 0.4, 10);
  assert.deepEqual(print(SELL, 0.4, 100), ['print sell 0.40 100']);
  change(BUY, 0.4, 400);
  assert.deepEqual(print(SELL, 0.4, 8), ['print sell 0.40 8', 'fill #1 8']);
});

test('paper orders at one price share the rest of a trade print, the oldest first', () => {
  const { desk, print, snapshot } = scene();
  snapshot([[0.4, 100]], []);
  desk.rest(1, BUY, 0.4, 10);
  desk.rest(2, BUY, 0.4, 10);
  assert.deepEqual(print(SELL, 0.4, 113), ['print sell 0.40 113', 'fill #1 10', 'fill #2 3']);
});

test('a trade print through a price fills the better orders first, and never more than its size', () => {
  const { desk, print, snapshot } = scene();
  snapshot([[0.4, 100]], []);
  desk.rest(1, BUY, 0.4, 10);
  desk.rest(2, BUY, 0.41, 10);
  desk.rest(3, BUY, 0.42, 10);
  assert.deepEqual(print(SELL, 0.4, 15), ['print sell 0.40 15', 'fill #3 10', 'fill #2 5']);
  assert.deepEqual(print(SELL, 0.39, 25), [
    'print sell 0.39 25',
    'fill #3 10',
    'fill #2 10',
    'fill #1 5',
  ]);
});

test('a decrease moves an order by its queue rule', () => {
  const filled: Record<string, string[]> = {};
  for (const queue of ['pessimistic', 'proportional'] as const) {
    const { at, change, desk, print, snapshot } = scene({ queue });
    at(10_000);
    snapshot([[0.4, 100]], []);
    desk.rest(1, BUY, 0.4, 50);
    change(BUY, 0.4, 200);
    // Half of the level is cancelled, and no print says that it traded.
    at(20_000);
    change(BUY, 0.4, 100);
    at(30_000);
    filled[queue] = print(SELL, 0.4, 70).slice(1);
  }
  assert.deepEqual(filled, { pessimistic: [], proportional: ['fill #1 20'] });
});

test('under a power rule the longer part of the queue loses more than its share', () => {
  const fillOf = (queue: QueueRule, level: number, cancelled: number, traded: number) => {
    const { at, change, desk, print, snapshot } = scene({ queue });
    at(10_000);
    snapshot([[0.4, 100]], []);
    desk.rest(1, BUY, 0.4, 50);
    change(BUY, 0.4, level);
    at(20_000);
    change(BUY, 0.4, level - cancelled);
    at(30_000);
    return print(SELL, 0.4, traded).slice(1);
  };
  // 100 ahead, 200 behind: of 90 cancelled a third, a fifth and a ninth leave ahead.
  assert.deepEqual(fillOf('proportional', 300, 90, 71), ['fill #1 1']);
  assert.deepEqual(fillOf('power:2', 300, 90, 83), ['fill #1 1']);
  assert.deepEqual(fillOf('power:3', 300, 90, 91), ['fill #1 1']);
  assert.deepEqual(fillOf('power:3', 300, 90, 90), []);
  // 100 ahead, 50 behind: eight ninths of 45.
  assert.deepEqual(fillOf('power:3', 150, 45, 61), ['fill #1 1']);
  // 100 ahead, 200 behind: of 270 a ninth is 30, and the 40 that were not behind.
  assert.deepEqual(fillOf('power:3', 300, 270, 31), ['fill #1 1']);
});

test('no rule leaves more ahead of an order than the level has', () => {
  for (const queue of QUEUE_RULES) {
    const { at, change, desk, print, snapshot } = scene({ queue });
    at(10_000);
    snapshot([[0.4, 100]], []);
    desk.rest(1, BUY, 0.4, 50);
    change(BUY, 0.4, 30);
    at(20_000);
    assert.deepEqual(print(SELL, 0.4, 31).slice(1), ['fill #1 1'], queue);
  }
});

test('a trade that arrives as print and decrease moves an order once, in either order', () => {
  for (const queue of QUEUE_RULES) {
    for (const order of ['print first', 'decrease first']) {
      const { at, change, desk, print, snapshot } = scene({ queue });
      at(10_000);
      snapshot([[0.4, 100]], []);
      desk.rest(1, BUY, 0.4, 50);
      change(BUY, 0.4, 300);
      at(20_000);
      if (order === 'print first') assert.deepEqual(print(SELL, 0.4, 60).slice(1), []);
      change(BUY, 0.4, 240);
      at(20_100);
      if (order !== 'print first') assert.deepEqual(print(SELL, 0.4, 60).slice(1), []);
      at(30_000);
      assert.deepEqual(print(SELL, 0.4, 45).slice(1), ['fill #1 5'], `${queue}, ${order}`);
    }
  }
});

test('a trade from before an order does not move it, also when it is repeated later', () => {
  const { at, change, desk, print, snapshot } = scene();
  at(10_000);
  snapshot([[0.4, 100]], []);
  change(BUY, 0.4, 40);
  desk.rest(1, BUY, 0.4, 50);
  // The decrease was this trade: the order came behind the 40 that were left.
  at(10_050);
  assert.deepEqual(print(SELL, 0.4, 60).slice(1), []);
  // It explains no other one.
  at(10_100);
  assert.deepEqual(print(SELL, 0.4, 45).slice(1), ['fill #1 5']);
});

test('an order gets no more than its size from several prints of one message', () => {
  const { book, desk, snapshot } = scene();
  snapshot([[0.4, 100]], []);
  desk.rest(1, BUY, 0.45, 10);
  desk.rest(2, BUY, 0.44, 10);
  const out = new CommandBuffer();
  const print = (price: number) => ({ side: SELL, pips: pipsOf(price), size: 12 * SHARE });
  book.prints([print(0.41), print(0.4)], out);
  assert.deepEqual(said(out), [
    'print sell 0.41 12',
    'fill #1 10',
    'fill #2 2',
    'print sell 0.40 12',
    'fill #2 8',
  ]);
});

test('cancels of a level that grows meanwhile move an order by each share of it', () => {
  const { at, change, desk, print, snapshot } = scene({ queue: 'proportional' });
  at(10_000);
  snapshot([[0.4, 100]], []);
  desk.rest(1, BUY, 0.4, 50);
  // A half, then three quarters, within the time in which a print could explain them.
  change(BUY, 0.4, 50);
  change(BUY, 0.4, 400);
  change(BUY, 0.4, 100);
  at(20_000);
  assert.deepEqual(print(SELL, 0.4, 14).slice(1), ['fill #1 1.5']);
});

test('prints and levels of the second token equal those of the first one at 1 - price', () => {
  const desk = new Desk();
  const out = new CommandBuffer();
  const options = {
    token: 1 as TokenRow,
    impact: 'keep',
    queue: 'pessimistic',
    paper: desk,
  } as const;
  const market = new MirroredMarket(new MirroredBook(options), '11');
  const apply = (message: JsonObject): void => play(market, message, out);
  const of = (id: string) => ({ market: 'm', asset_id: id, timestamp: '1000' });
  const levels = { bids: [{ price: '.4', size: '7' }], asks: [{ price: '0.45', size: '8' }] };
  apply({ event_type: 'book', ...of('11'), ...levels });
  apply({ event_type: 'book', ...of('22'), ...levels });
  assert.deepEqual(said(out), ['level buy 0.40 7', 'level sell 0.45 8']);
  const change = { side: 'SELL', price: '0.45', size: '9' };
  apply({ event_type: 'price_change', ...of('11'), changes: [change] });
  const price_changes = [
    { ...change, asset_id: '11', size: '10.1234567' },
    { ...change, asset_id: '22', side: 'BUY', price: '0.55', size: '10.1234567' },
  ];
  apply({ event_type: 'price_change', market: 'm', timestamp: '1', price_changes });
  assert.deepEqual(said(out), ['level sell 0.45 9', 'level sell 0.45 10.123456']);
  const print = { side: 'BUY', price: '0.55', size: '2' };
  apply({ event_type: 'last_trade_price', ...of('22'), ...print });
  assert.deepEqual(said(out), ['print sell 0.45 2']);
  // The same trade, said for the other token; then one more.
  const other = { side: 'SELL', price: '0.45', size: '2' };
  apply({ event_type: 'last_trade_price', ...of('11'), ...other });
  assert.deepEqual(said(out), []);
  apply({ event_type: 'last_trade_price', ...of('11'), ...other });
  assert.deepEqual(said(out), ['print sell 0.45 2']);
});

test('a book without some of its best levels counts as a trade when the source sends no prints', () => {
  const desk = new Desk();
  const out = new CommandBuffer();
  const options = {
    token: 1 as TokenRow,
    impact: 'keep',
    queue: 'pessimistic',
    paper: desk,
  } as const;
  const market = new MirroredMarket(new MirroredBook(options), '11', true);
  type Level = readonly [price: string, size: string];
  const book = (bids: readonly Level[], asks: readonly Level[]): string[] => {
    const texts = (list: readonly Level[]) => list.map(([price, size]) => ({ price, size }));
    const of = { market: 'm', asset_id: '11', timestamp: '1000' };
    play(market, { event_type: 'book', ...of, bids: texts(bids), asks: texts(asks) }, out);
    return said(out);
  };
  book(
    [
      ['0.3', '5'],
      ['0.4', '7'],
    ],
    [
      ['0.6', '9'],
      ['0.5', '8'],
    ],
  );
  // The best ask is gone, the next one is smaller, and the taker's rest stands.
  assert.deepEqual(
    book(
      [
        ['0.3', '5'],
        ['0.4', '7'],
        ['0.45', '1'],
      ],
      [['0.6', '4']],
    ),
    [
      'print buy 0.50 8',
      'print buy 0.60 5',
      'level sell 0.50 0',
      'level buy 0.45 1',
      'level sell 0.60 4',
    ],
  );
  // Less behind the best level is no trade, and neither is less on both sides.
  assert.deepEqual(
    book(
      [
        ['0.3', '4'],
        ['0.4', '7'],
        ['0.45', '1'],
      ],
      [['0.6', '4']],
    ),
    ['level buy 0.30 4'],
  );
  assert.deepEqual(
    book(
      [
        ['0.3', '4'],
        ['0.4', '7'],
      ],
      [['0.6', '3']],
    ),
    ['level buy 0.45 0', 'level sell 0.60 3'],
  );
});

test('a tick change of the source changes the market, and ends levels like orders', () => {
  const sim = new Simulator({ ...SMALL }, { ledger: true });
  const [yes] = sim.addMarket({ ticksPerUnit: 1_000 }) as [TokenRow, TokenRow];
  sim.deposit('source', 1e6 * SHARE);
  const { t } = sim.engine;
  const paper = new EngineOrders(t, yes);
  const market = new MirroredMarket(
    new MirroredBook({ token: yes, impact: 'keep', queue: 'pessimistic', paper }),
    '11',
  );
  const out = new CommandBuffer();
  let time = 1_000;
  const apply = (fields: object): void => {
    time += 1_000;
    const of = { market: 'm', asset_id: '11', timestamp: String(time) };
    play(market, { ...of, ...fields }, out);
    sim.engine.begin(time, 0);
    for (let at = 0; at < out.words; at += commandWords(out.i32, at)) {
      assert.equal(sim.engine.apply(out.i32, out.f64, at), RejectReason.accepted);
    }
    sim.engine.end();
    out.clear();
  };
  apply({
    event_type: 'book',
    bids: [
      { price: '0.4', size: '7' },
      { price: '0.412', size: '2' },
    ],
    asks: [{ price: '0.444', size: '5' }],
  });
  assert.deepEqual(sim.book(yes), {
    bids: [
      [400, 7 * SHARE],
      [412, 2 * SHARE],
    ],
    asks: [[444, 5 * SHARE]],
  });
  apply({ event_type: 'tick_size_change', old_tick_size: '0.001', new_tick_size: '0.01' });
  assert.deepEqual(sim.book(yes), { bids: [[40, 7 * SHARE]], asks: [] });
  // The next message brings back what the source still has between the ticks.
  apply({ event_type: 'price_change', changes: [{ price: '0.3', size: '1', side: 'BUY' }] });
  assert.deepEqual(sim.book(yes), {
    bids: [
      [30, SHARE],
      [40, 7 * SHARE],
      [41, 2 * SHARE],
    ],
    asks: [[45, 5 * SHARE]],
  });
  audit(t);
});

test('orders wait behind the whole level after a start, and after a stale source', () => {
  const { at, book, change, desk, print, snapshot } = scene();
  const out = new CommandBuffer();
  desk.rest(1, BUY, 0.4, 50);
  at(10_000);
  // Nothing is known yet: a print stands in the tape, and a change is part of the snapshot that comes.
  assert.deepEqual(print(SELL, 0.4, 10), ['print sell 0.40 10']);
  assert.deepEqual(change(BUY, 0.4, 90), []);
  snapshot([[0.4, 100]], []);
  at(20_000);
  assert.deepEqual(print(SELL, 0.4, 95).slice(1), []);
  change(BUY, 0.4, 5);
  at(30_000);
  book.clear(out);
  assert.deepEqual(said(out), ['level buy 0.40 0']);
  at(40_000);
  assert.deepEqual(snapshot([[0.4, 70]], []), ['level buy 0.40 70']);
  at(50_000);
  assert.deepEqual(print(SELL, 0.4, 75).slice(1), ['fill #1 5']);
});

test('levels from before a start are set to those of the source', () => {
  const desk = new Desk();
  desk.stands.set(`${BUY} 4000`, 7 * SHARE).set(`${SELL} 6000`, 8 * SHARE);
  const options = {
    token: 1 as TokenRow,
    impact: 'keep',
    queue: 'pessimistic',
    paper: desk,
  } as const;
  const book = new MirroredBook(options);
  const out = new CommandBuffer();
  const level = (price: number, shares: number) => ({ pips: pipsOf(price), size: shares * SHARE });
  book.snapshot([level(0.4, 7), level(0.3, 1)], [level(0.65, 8)], out);
  assert.deepEqual(said(out), ['level sell 0.60 0', 'level buy 0.30 1', 'level sell 0.65 8']);
});

test('a source whose clock stands still, or jumps, fills no memory and explains nothing by distant trades', () => {
  const cancelled: number[] = [];
  const reports = new DoubleReports(({ left }) => void cancelled.push(left));
  for (let i = 0; i < 5_000; i++) reports.decrease(10, 9, 7);
  assert.equal(reports.unexplained, 1_000);
  assert.equal(cancelled.length, 4_000);
  // A time far ahead ends what waits, and a time far back ends what was ahead.
  reports.pass(1e12);
  assert.deepEqual([reports.unexplained, cancelled.length], [0, 5_000]);
  reports.print(5, 1e12);
  reports.pass(7);
  reports.decrease(9, 4, 7);
  assert.equal(reports.unexplained, 5);
});
