import assert from 'node:assert/strict';
import test from 'node:test';
import {
  type BacktestOptions,
  backtest,
  type Fill,
  type Order,
  type Strategy,
  StrategyError,
  type Venue,
} from '../../server/backtest/backtest.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import { book, catalog, change, message, NO, START, trade, YES } from './entries.ts';

const BIDS = { '0.40': 100, '0.39': 50 };
const ASKS = { '0.44': 100, '0.45': 50 };
const BEGIN = [catalog(), book(0, BIDS, ASKS)];

function script(steps: Readonly<Record<number, (venue: Venue) => void>>) {
  const fills: Fill[] = [];
  const orders: Order[] = [];
  const strategy: Strategy = {
    onStart(venue) {
      for (const [at, step] of Object.entries(steps)) {
        venue.after(START + Number(at) - venue.now, () => step(venue));
      }
    },
    onFill: (fill) => void fills.push(fill),
    onOrder: (order) => void orders.push({ ...order, filled: order.filled, size: order.size }),
  };
  return { fills, orders, strategy };
}

const run = (entries: readonly RecordingEntry[], strategy: Strategy, options?: BacktestOptions) =>
  backtest(entries, strategy, options);

const brief = ({ price, role, side, size, time }: Fill) => [time - START, side, price, size, role];

test('an order that crosses takes the source, best level first, and equity is cash and the middle', async () => {
  const { fills, strategy } = script({
    5: (venue) => void venue.place({ token: YES, side: 'BUY', price: 0.45, size: 120 }),
  });
  const result = await run([...BEGIN, change(10, 'BUY', '0.40', 90)], strategy);
  assert.deepEqual(fills.map(brief), [
    [5, 'BUY', 0.44, 100, 'taker'],
    [5, 'BUY', 0.45, 20, 'taker'],
  ]);
  // 44 + 9 paid. What was taken stays taken: the middle is that of the source, 0.42.
  assert.deepEqual([fills[0]?.cash, fills[1]?.cash, fills[1]?.position], [956, 947, 120]);
  assert.equal(result.figures.equity, 997.4);
  assert.equal(result.figures.turnover, 53);
  assert.equal(result.markets[0]?.profit, -2.6);
  assert.deepEqual(result.markets[0]?.shares, [120, 0]);
  assert.equal(result.levelsRefused, 0);
});

test('a resting order waits behind the source, and trades when prints have passed it', async () => {
  const { fills, orders, strategy } = script({
    5: (venue) => void venue.place({ token: YES, side: 'BUY', price: 0.4, size: 30 }),
  });
  const entries = [
    ...BEGIN,
    trade(10, 'SELL', '0.40', 80),
    change(11, 'BUY', '0.40', 20),
    trade(20, 'SELL', '0.40', 30),
    trade(30, 'SELL', '0.39', 500),
  ];
  await run(entries, strategy);
  // 100 were ahead: 80 leave 20, then 10 of 30 are left for it; a print below its price fills the rest.
  assert.deepEqual(fills.map(brief), [
    [20, 'BUY', 0.4, 10, 'maker'],
    [30, 'BUY', 0.4, 20, 'maker'],
  ]);
  assert.deepEqual(
    orders.map(({ filled, state }) => [state, filled]),
    [
      ['open', 0],
      ['filled', 30],
    ],
  );
});

test('cancels ahead move an order under the proportional queue rule alone', async () => {
  const entries = [
    ...BEGIN,
    change(10, 'BUY', '0.40', 50),
    // The time in which a print could still explain the decrease goes by.
    change(10_000, 'BUY', '0.39', 60),
    change(10_001, 'BUY', '0.40', 51),
    trade(10_002, 'SELL', '0.40', 45),
    trade(10_003, 'SELL', '0.40', 6),
  ];
  const sizes = async (queue: 'pessimistic' | 'proportional', grown: number) => {
    const { fills, strategy } = script({
      5: (venue) => void venue.place({ token: YES, side: 'BUY', price: 0.4, size: 30 }),
    });
    // What came behind it makes the level larger, so that half of it is not half of what is ahead.
    const more = [...BEGIN, change(7, 'BUY', '0.40', grown), ...entries.slice(2)];
    await run(more, strategy, { queue });
    return fills.reduce((sum, { size }) => sum + size, 0);
  };
  // 100 ahead of 200, 50 left: pessimistic 50 ahead, proportional a quarter of 100.
  assert.equal(await sizes('pessimistic', 200), 1);
  assert.equal(await sizes('proportional', 200), 26);
});

test('taken size comes back with the next change of the level, or with the next message', async () => {
  const taken = async (impact: 'keep' | 'restore') => {
    const take = (venue: Venue) =>
      void venue.place({ token: YES, side: 'BUY', price: 0.44, size: 60, type: 'FAK' });
    const { fills, strategy } = script({ 5: take, 15: take, 25: take });
    const entries = [
      ...BEGIN,
      change(10, 'BUY', '0.39', 70),
      change(20, 'SELL', '0.44', 101),
      change(30, 'BUY', '0.39', 71),
    ];
    await run(entries, strategy, { impact });
    return fills.map(({ size }) => size);
  };
  assert.deepEqual(await taken('keep'), [60, 40, 60]);
  assert.deepEqual(await taken('restore'), [60, 60, 60]);
});

test('orders and cancels are delayed, and a message of the same moment precedes them', async () => {
  const later = script({
    5: (venue) => {
      const order = venue.place({ token: YES, side: 'BUY', price: 0.44, size: 10 });
      assert.equal(order.state, 'sent');
      assert.deepEqual(venue.openOrders(), [order]);
    },
  });
  const entries = [...BEGIN, change(105, 'SELL', '0.44', 0), change(106, 'SELL', '0.44', 10)];
  await run(entries, later.strategy, { latencyMs: 100 });
  // At 105 the level is gone first; the order rests at 0.44, and the source's new level meets it.
  assert.deepEqual(later.fills.map(brief), [[106, 'BUY', 0.44, 10, 'maker']]);

  const called = script({
    5: (venue) => {
      const order = venue.place({ token: YES, side: 'BUY', price: 0.41, size: 10 });
      venue.after(10, () => venue.cancel(order));
    },
  });
  await run(
    [...BEGIN, trade(112, 'SELL', '0.41', 3), trade(120, 'SELL', '0.41', 9)],
    called.strategy,
    {
      latencyMs: 100,
    },
  );
  assert.deepEqual(called.fills.map(brief), [[112, 'BUY', 0.41, 3, 'maker']]);
  assert.deepEqual(
    called.orders.map(({ state }) => state),
    ['open', 'cancelled'],
  );
});

test('a wrong order is refused in the words of the node, and changes nothing', async () => {
  const reasons: string[] = [];
  const refused: Strategy = {
    onBook(_, venue) {
      const place = (more: object) =>
        reasons.push(
          venue.place({ token: YES, side: 'BUY', price: 0.4, size: 10, ...more }).reason,
        );
      place({ token: '7' });
      place({ price: 0.405 });
      place({ price: 0.12345 });
      place({ price: 1 });
      place({ size: 0 });
      place({ price: Number.NaN });
      place({ size: 4.99 });
      place({ size: 2_501 });
      place({ side: 'SELL' });
      place({ price: 0.44, postOnly: true });
      place({ type: 'FOK', price: 0.45, size: 151 });
      place({ type: 'FAK', price: 0.43 });
      place({ type: 'FOK', postOnly: true });
      place({ type: 'GTD', expiration: 5 });
      assert.deepEqual(venue.cash(), { total: 1_000, reserved: 0, free: 1_000 });
      assert.deepEqual(venue.openOrders(), []);
    },
  };
  const { figures } = await run(BEGIN, refused);
  const tick = 'order is invalid. Price breaks minimum tick size rules';
  assert.deepEqual(reasons, [
    'token is not registered',
    tick,
    tick,
    tick,
    'makerAmount and takerAmount must be positive',
    'makerAmount and takerAmount must be positive',
    'order is invalid. Size lower than the minimum',
    'not enough balance / allowance',
    'not enough balance / allowance',
    'postOnly would cross the best ask',
    "order couldn't be fully filled, FOK orders are fully filled/killed",
    'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
    'postOnly requires GTC or GTD',
    'expiration must be in the future',
  ]);
  assert.deepEqual([figures.orders, figures.refused, figures.fills], [14, 14, 0]);
});

test('a buyer pays fees in shares, a seller in collateral, a maker none', async () => {
  const { fills, strategy } = script({
    5: (venue) => {
      venue.place({ token: YES, side: 'BUY', price: 0.44, size: 50 });
      venue.place({ token: YES, side: 'SELL', price: 0.4, size: 40 });
    },
  });
  const result = await run([...BEGIN, change(10, 'BUY', '0.39', 1)], strategy, { feeBps: 200 });
  // 2 % of 0.44 x 50 is 0.44, which is one share; 2 % of 0.40 x 40 is 0.32.
  assert.deepEqual(
    fills.map(({ fee, position }) => [fee, position]),
    [
      [0.44, 49],
      [0.32, 9],
    ],
  );
  assert.equal(result.figures.fees, 0.76);
  assert.equal(fills[1]?.cash, 1_000 - 22 + 16 - 0.32);
});

test('a recorded fee schedule holds unless a base fee is given', async () => {
  const feeSchedule = { rate: 0.05, exponent: 1, rebateRate: 0.25, takerOnly: true };
  const begin = [catalog(0, { feeSchedule }), ...BEGIN.slice(1)];
  const runWith = async (options: BacktestOptions) => {
    const { fills, strategy } = script({
      5: (venue) => {
        venue.place({ token: YES, side: 'BUY', price: 0.44, size: 50 });
        venue.place({ token: YES, side: 'SELL', price: 0.4, size: 40 });
      },
    });
    await run([...begin, change(10, 'BUY', '0.39', 1)], strategy, options);
    return fills.map(({ cash, fee, position }) => [fee, position, cash]);
  };
  // 0.05 x 0.44 x 0.56 x 50 is 0.616 on top, 0.05 x 0.4 x 0.6 x 40 is 0.48 off.
  assert.deepEqual(await runWith({}), [
    [0.616, 50, 1_000 - 22 - 0.616],
    [0.48, 10, 1_000 - 22 - 0.616 + 16 - 0.48],
  ]);
  const [first] = await runWith({ feeBps: 0 });
  assert.deepEqual(first, [0, 50, 978]);
  const feesOf = async (options: BacktestOptions) => (await run([], {}, options)).settings.feeBps;
  assert.deepEqual([await feesOf({}), await feesOf({ feeBps: 0 })], ['recorded', 0]);
});

test('a resolution ends orders, pays positions, and closes them', async () => {
  const states: unknown[] = [];
  const { fills, orders, strategy } = script({
    5: (venue) => {
      venue.place({ token: YES, side: 'BUY', price: 0.44, size: 50 });
      venue.place({ token: NO, side: 'BUY', price: 0.5, size: 10 });
    },
  });
  const entries = [
    ...BEGIN,
    change(10, 'BUY', '0.39', 1),
    catalog(20, { closed: true, outcomePrices: ['1', '0'] }),
    change(30, 'BUY', '0.39', 2),
  ];
  const result = await run(entries, {
    ...strategy,
    onResolved: (market, venue) =>
      states.push(market.state, market.payout, venue.position(YES).total, venue.cash().total),
  });
  assert.equal(fills.length, 1);
  assert.deepEqual(states, ['resolved', [1, 0], 0, 1_000 - 22 + 50]);
  assert.deepEqual(orders.at(-1)?.state, 'ended');
  const { figures, markets } = result;
  assert.deepEqual([figures.profit, figures.closings, figures.hitRate], [28, 1, 1]);
  assert.deepEqual(markets[0]?.payout, [1, 0]);
  assert.equal(markets[0]?.profit, 28);
});

test('a resolution also comes as a message, and a void one pays halves', async () => {
  const { strategy } = script({
    5: (venue) => void venue.place({ token: NO, side: 'BUY', price: 0.6, size: 50 }),
  });
  const ended = {
    event_type: 'market_resolved',
    assets_ids: [YES, NO],
    payouts: [1, 1],
    payout_sum: 2,
    is_void: true,
  };
  const { figures } = await run([...BEGIN, message(10, ended)], strategy);
  assert.deepEqual([figures.fills, figures.equity], [1, 1_000 - 30 + 25]);
});

test('a winner resolves a market whose message has no weights, in any order of the tokens', async () => {
  for (const assets_ids of [
    [YES, NO],
    [NO, YES],
    ['unknown', YES],
  ]) {
    const { strategy } = script({
      5: (venue) => void venue.place({ token: NO, side: 'BUY', price: 0.6, size: 50 }),
    });
    const winning_asset_id = assets_ids.find((id) => id !== YES);
    const ended = { event_type: 'market_resolved', assets_ids, winning_asset_id };
    const { figures, markets } = await run([...BEGIN, message(10, ended)], strategy);
    assert.equal(figures.equity, 1_000 - 30 + 50);
    assert.deepEqual(markets[0]?.payout, [0, 1], assets_ids.join());
  }
});

test('a message that cannot be understood changes nothing, and is counted', async () => {
  const damaged = [
    message(6, { event_type: 'book', bids: [{ price: '0.43', size: 'many' }], asks: [] }),
    message(6, { event_type: 'book', bids: undefined, asks: [] }),
    message(6, { event_type: 'price_change', changes: [{ side: 'BUY', price: 0.43, size: '5' }] }),
    message(6, { event_type: 'last_trade_price', price: '0.40', size: '900', side: 'HOLD' }),
    message(6, { event_type: 'tick_size_change' }),
    { at: START + 6, kind: 'message', message: null as never } as const,
  ];
  const unresolved = message(7, { event_type: 'market_resolved' });
  const after = [change(10, 'BUY', '0.40', 60), trade(20, 'SELL', '0.40', 80)];
  const result = async (between: readonly RecordingEntry[]) => {
    const { fills, strategy } = script({
      5: (venue) => void venue.place({ token: YES, side: 'BUY', price: 0.4, size: 30 }),
    });
    const whole = await run([...BEGIN, ...between, ...after], strategy);
    return { ...whole, messages: 0, fills };
  };
  const sound = await result([]);
  assert.equal(sound.messagesDamaged, 0);
  const found = await result([...damaged, unresolved]);
  assert.deepEqual(found, { ...sound, messagesDamaged: damaged.length });
});

test('complete sets split, sell one outcome, and merge', async () => {
  const { fills, strategy } = script({
    5: (venue) => {
      const market = venue.market(YES);
      assert.equal(venue.split(market, 2_000).reason, 'not enough balance / allowance');
      assert.equal(venue.split(market, 100).state, 'done');
      assert.deepEqual([venue.position(YES).free, venue.position(NO).free], [100, 100]);
      venue.place({ token: YES, side: 'SELL', price: 0.4, size: 60 });
      assert.equal(venue.merge(market, 41).state, 'refused');
      assert.equal(venue.merge(market, 40).state, 'done');
    },
  });
  const { figures, markets } = await run([...BEGIN, change(9, 'BUY', '0.39', 1)], strategy);
  assert.equal(fills[0]?.cash, 1_000 - 100 + 24);
  // 40 + 24 in cash, and 60 No at 0.58.
  assert.equal(figures.equity, 1_000 - 100 + 24 + 40 + 60 * 0.58);
  assert.deepEqual(markets[0]?.inventory.at(-1), -60);
});

test('timers and expiry run between the start and the end of a strategy', async () => {
  const times: number[] = [];
  const { orders, strategy } = script({
    1500: (venue) =>
      void venue.place({
        token: YES,
        side: 'BUY',
        price: 0.3,
        size: 10,
        type: 'GTD',
        expiration: START / 1_000 + 3,
      }),
  });
  const entries = [...BEGIN, ...[1, 2, 3, 4, 5].map((s) => change(s * 1_000, 'BUY', '0.39', s))];
  const result = await run(
    entries,
    { ...strategy, everyMs: 700, onTime: ({ now }) => void times.push(now - START) },
    { from: new Date(START + 1_000), to: START + 4_000 },
  );
  assert.deepEqual(times, [1_700, 2_400, 3_100, 3_800]);
  assert.deepEqual(
    orders.map(({ state }) => state),
    ['open', 'expired'],
  );
  assert.deepEqual([result.from, result.to, result.messages], [START + 1_000, START + 4_000, 4]);
});

test('an empty recording, or one that ends before the strategy begins, gives figures of nothing', async () => {
  for (const entries of [[], BEGIN]) {
    const result = await run(entries, {}, { from: START + 1 });
    assert.deepEqual(
      [result.from, result.to, result.messages, result.fills],
      [undefined, undefined, 0, []],
    );
    assert.deepEqual(
      [result.figures.profit, result.figures.sharpe, result.days],
      [0, undefined, []],
    );
  }
});

test('an error of a strategy says where it was, and has the error as its cause', async () => {
  const cause = new Error('no such thing');
  const broken: Strategy = {
    name: 'broken',
    onTrade() {
      throw cause;
    },
  };
  await assert.rejects(run([...BEGIN, trade(1_000, 'BUY', '0.44', 1)], broken), (error) => {
    assert(error instanceof StrategyError);
    assert.equal(error.message, 'broken: onTrade at 2026-01-05T00:00:01.000Z: no such thing');
    assert.equal(error.cause, cause);
    return true;
  });
  const endless: Strategy = {
    onOrder: (_, venue) => void venue.place({ token: YES, side: 'BUY', price: 2, size: 1 }),
    onBook: (_, venue) => void venue.place({ token: YES, side: 'BUY', price: 2, size: 1 }),
  };
  await assert.rejects(
    run(BEGIN, endless),
    /strategy: onOrder at .*: the strategy answers without/,
  );
});

test('a rejected promise of a strategy ends the run like a thrown error', async () => {
  const cause = new Error('no such file');
  const fails = (): Promise<void> => Promise.reject(cause);
  const late = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    throw cause;
  };
  const entries = [...BEGIN, trade(1_000, 'BUY', '0.44', 1), change(2_000, 'BUY', '0.39', 60)];
  const cases: readonly (readonly [name: string, at: number, strategy: Strategy])[] = [
    ['onStart', 0, { onStart: fails }],
    ['onMarket', 0, { onMarket: fails }],
    ['onTrade', 1, { onTrade: fails }],
    ['onBook', 0, { onBook: late }],
    ['onTime', 1, { everyMs: 1_000, onTime: fails }],
    ['onEnd', 2, { onEnd: late }],
    ['after', 1, { onStart: (venue) => venue.after(1_000, fails) }],
    [
      'onOrder',
      1,
      {
        onTrade: (_, venue) => void venue.place({ token: YES, side: 'BUY', price: 0.3, size: 10 }),
        onOrder: fails,
      },
    ],
    [
      'onFill',
      1,
      {
        onTrade: (_, venue) => void venue.place({ token: YES, side: 'BUY', price: 0.5, size: 10 }),
        onFill: late,
      },
    ],
  ];
  for (const [name, second, strategy] of cases) {
    await assert.rejects(run(entries, strategy), (error) => {
      assert(error instanceof StrategyError, String(error));
      const at = `2026-01-05T00:00:0${second}.000Z`;
      assert.equal(error.message, `strategy: ${name} at ${at}: no such file`);
      assert.equal(error.cause, cause);
      return true;
    });
  }
  // An order after the end comes too late, and is an error of the function that began it.
  const order = { token: YES, side: 'BUY', price: 0.3, size: 10 } as const;
  const slow: Strategy = {
    async onEnd(venue) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      venue.place(order);
    },
  };
  await assert.rejects(run(BEGIN, slow), /onEnd at .*: the recording has ended/);
});

test('an object that is no strategy is refused by the name of its member', async () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /^a strategy must be an object with functions, not undefined$/],
    [null, /^a strategy must be an object .* not null$/],
    [[], /^a strategy must be an object .* not a list$/],
    [
      () => undefined,
      /^what the function .* returns must be an object with functions, not undefined$/,
    ],
    [async () => 5, /^what the function .* not 5$/],
    [{ onBook: 'buy' }, /^onBook of a strategy must be a function, not buy$/],
    [{ onEnd: {} }, /^onEnd of a strategy must be a function, not an object$/],
    [{ name: 5 }, /^name of a strategy must be a text, not 5$/],
    [{ everyMs: 0.5 }, /^everyMs of a strategy must be 1 or more, not 0.5$/],
    [{ everyMs: '5' }, /^everyMs of a strategy must be 1 or more, not 5$/],
  ];
  for (const [strategy, message] of cases) {
    await assert.rejects(run(BEGIN, strategy as Strategy), { name: 'NoStrategy', message });
  }
  class Quotes {
    readonly name = 'quotes';
  }
  await assert.rejects(run(BEGIN, Quotes as never), {
    name: 'StrategyError',
    message: /^strategy: the function that makes it: Class constructor Quotes cannot be invoked/,
  });
  const made = await backtest(BEGIN, async () => new Quotes());
  assert.equal(made.name, 'quotes');
});

test('meaningless options are refused before the run', async () => {
  for (const [options, problem] of [
    [{ cash: 0 }, /^cash must be above 0/],
    [{ cash: Number.NaN }, /^cash must be above 0/],
    [{ latencyMs: -1 }, /^latencyMs must be 0 or more/],
    [{ from: Number.NaN }, /^from must be a time, not NaN/],
    [{ to: new Date('never') }, /^to must be a time, not Invalid Date/],
    [{ from: 2, to: new Date(1) }, /^from must be at or before to, not 2 with to 1/],
    [{ feeBps: 1.5 }, /^feeBps must be a whole number/],
    [{ impact: 'none' as 'keep' }, /^impact must be keep or restore, not none/],
    [
      { queue: 'fifo' as 'pessimistic' },
      /^queue must be one of pessimistic, proportional, .*, not fifo/,
    ],
  ] as const) {
    await assert.rejects(run([], {}, options), { name: 'RangeError', message: problem });
  }
});

test('a strategy sees the best levels first, and own orders in the book but not in the midpoint', async () => {
  const seen: unknown[] = [];
  await run([...BEGIN, change(10, 'BUY', '0.39', 60)], {
    onMarket: ({ id, question, state, tokens }) => seen.push([id.length, question, state, tokens]),
    onBook({ ask, asks, bid, bids, mid, tick }, venue) {
      if (seen.length > 1) return;
      seen.push([bid, ask, mid, tick, bids, asks[0]]);
      venue.place({ token: YES, side: 'BUY', price: 0.41, size: 10 });
      const no = venue.book(NO);
      seen.push([no.bid, no.ask, no.mid, no.asks.slice(0, 2)]);
    },
  });
  const levels = (side: Readonly<Record<string, number>>) =>
    Object.entries(side).map(([price, size]) => ({ price: Number(price), size }));
  assert.deepEqual(seen, [
    [66, 'Will it rain?', 'open', [YES, NO]],
    [0.4, 0.44, 0.42, 0.01, levels(BIDS), { price: 0.44, size: 100 }],
    [
      0.56,
      0.59,
      0.58,
      [
        { price: 0.59, size: 10 },
        { price: 0.6, size: 100 },
      ],
    ],
  ]);
});

test('a change of the tick ends orders off the new grid, and the book continues on it', async () => {
  const { orders, strategy } = script({
    5: (venue) => void venue.place({ token: YES, side: 'BUY', price: 0.33, size: 10 }),
    15: (venue) => {
      assert.equal(venue.book(YES).tick, 0.1);
      assert.equal(
        venue.place({ token: YES, side: 'BUY', price: 0.33, size: 10 }).state,
        'refused',
      );
      assert.equal(venue.place({ token: YES, side: 'BUY', price: 0.3, size: 10 }).state, 'open');
    },
    25: (venue) => assert.equal(venue.book(YES).bid, 0.4),
  });
  const ticks = { old_tick_size: '0.01', new_tick_size: '0.1' };
  const result = await run(
    [
      ...BEGIN,
      message(10, { event_type: 'tick_size_change', ...ticks }),
      change(20, 'BUY', '0.40', 7),
      change(30, 'BUY', '0.30', 7),
    ],
    strategy,
  );
  assert.deepEqual(
    orders.map(({ state }) => state),
    ['open', 'ended', 'refused', 'open'],
  );
  assert.equal(result.levelsRefused, 0);
});
