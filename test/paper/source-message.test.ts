import assert from 'node:assert/strict';
import test from 'node:test';
import { DamagedMessage, readEvents } from '../../storage/recordings/source-message.ts';
import { type Random, withSeed } from '../common/random.ts';

const HEAD = { market: 'm', asset_id: '1', timestamp: '7' };
const SAID = { token: '1', at: 7 };

/** Values that no recording can have as a time. */
const NO_TIMES = [
  'now',
  '',
  '9007199254740991',
  '4102444800000',
  '-1',
  '5.5',
  '1e3',
  1e300,
  -1,
  5.5,
  null,
];

const changeOf = (price: string, size: string, side = 'BUY') =>
  readEvents({ ...HEAD, event_type: 'price_change', changes: [{ side, price, size }] });
const printOf = (price: string, side: string) =>
  readEvents({ ...HEAD, event_type: 'last_trade_price', price, size: '2', side });

test('prices and sizes are exact for any digits', () => {
  withSeed((random) => {
    for (let i = 0; i < 2_000; i++) {
      const pips = random.between(1, 9_999);
      const size = random.next() * 1_000 + random.below(1_000);
      const changes = [{ side: 0, pips, size }];
      const read = changeOf(decimal(random, pips, 4), decimal(random, size, 6), 'buy');
      assert.deepEqual(read, [{ kind: 'changes', ...SAID, changes }]);
    }
  });
});

/** Text of the number 10^-places, with meaningless zeros at its ends. */
function decimal(random: Random, value: number, places: number): string {
  const digits = String(value).padStart(places + 1, '0');
  const whole = digits.slice(0, -places).replace(/^0$/, random.pick(['', '0', '000']));
  const fraction = digits.slice(-places).replace(/0+$/, '') + '0'.repeat(random.below(9));
  return fraction === '' ? whole || '0' : `${whole}.${fraction}`;
}

test('a price between two pips offers less or reaches fewer orders, and sizes are rounded down', () => {
  const pipsOf = ([event]: ReturnType<typeof readEvents>): number =>
    event?.kind === 'changes' ? event.changes[0]!.pips : event?.kind === 'print' ? event.pips : 0;
  assert.equal(pipsOf(changeOf('0.400001', '1', 'BUY')), 4_000);
  assert.equal(pipsOf(changeOf('0.400001', '1', 'SELL')), 4_001);
  assert.equal(pipsOf(changeOf('0.40000000', '1', 'SELL')), 4_000);
  assert.equal(pipsOf(printOf('0.40009', 'BUY')), 4_000);
  assert.equal(pipsOf(printOf('0.40001', 'SELL')), 4_001);
  const changes = [{ side: 0, pips: 4_000, size: 1_999_999 }];
  assert.deepEqual(changeOf('.4', '1.9999999'), [{ kind: 'changes', ...SAID, changes }]);
});

test('changes of several tokens are read for each token apart, in their order', () => {
  const change = (asset_id: string, side: string, price: string) => {
    return { asset_id, side, price, size: '1' };
  };
  const price_changes = [
    change('1', 'BUY', '0.4'),
    change('2', 'SELL', '0.6'),
    change('1', 'SELL', '0.5'),
  ];
  const size = 1_000_000;
  assert.deepEqual(
    readEvents({ event_type: 'price_change', market: 'm', timestamp: '7', price_changes }),
    [
      {
        kind: 'changes',
        ...SAID,
        changes: [
          { side: 0, pips: 4_000, size },
          { side: 1, pips: 5_000, size },
        ],
      },
      { kind: 'changes', token: '2', at: 7, changes: [{ side: 1, pips: 6_000, size }] },
    ],
  );
});

test('a resolution has weights, a winner, or neither', () => {
  const payoutOf = (more: object): unknown => {
    const [event] = readEvents({
      event_type: 'market_resolved',
      market: '0xA',
      assets_ids: ['1', '2'],
      ...more,
    });
    assert(event?.kind === 'resolved');
    assert.deepEqual([event.condition, event.tokens], ['0xa', ['1', '2']]);
    return event.payout;
  };
  assert.deepEqual(payoutOf({ payouts: [1, 3] }), [2_500, 7_500]);
  assert.equal(payoutOf({ payouts: [1, 1], is_void: true }), 'void');
  assert.deepEqual(payoutOf({ winning_asset_id: '2' }), [0, 10_000]);
  for (const more of [{}, { winning_asset_id: '3' }, { payouts: [0, 0] }, { payouts: ['1', -1] }])
    assert.equal(payoutOf(more), undefined, JSON.stringify(more));
});

test('an unreadable message has a reason, and never causes another error', () => {
  const level = { price: '0.5', size: '1' };
  const book = { ...HEAD, event_type: 'book', bids: [level], asks: [] };
  const change = { ...level, side: 'BUY' };
  const changed = { ...HEAD, event_type: 'price_change' };
  const print = { ...HEAD, event_type: 'last_trade_price', ...change };
  const tick = { ...HEAD, event_type: 'tick_size_change', new_tick_size: '0.01' };
  const sound: readonly object[] = [
    book,
    { ...changed, changes: [change] },
    { ...changed, price_changes: [{ ...change, asset_id: '1' }] },
    print,
    tick,
    { event_type: 'market_resolved', market: 'm' },
    { event_type: 'new_market' },
    { event_type: 'best_bid_ask' },
    {},
  ];
  for (const message of sound) readEvents({ ...message });
  for (const timestamp of ['0', '4102444799999', 7]) readEvents({ ...book, timestamp });
  const bids = (more: object) => ({ ...book, bids: [{ ...level, ...more }] });
  const damaged: readonly (readonly [unknown, string])[] = [
    [null, 'it is no object'],
    [[book], 'it is no object'],
    [{ ...book, asset_id: 1 }, 'it has no asset_id'],
    [{ ...book, timestamp: undefined }, 'it has no timestamp'],
    ...NO_TIMES.flatMap((timestamp) =>
      [book, print, tick, { event_type: 'best_bid_ask' }, { event_type: 'new_market' }].map(
        (message) => [{ ...message, timestamp }, 'its timestamp is no time'] as const,
      ),
    ),
    [{ ...book, bids: undefined }, 'it has no bids'],
    [{ ...book, asks: [null] }, 'it has no asks'],
    [changed, 'it has no changes'],
    [{ ...changed, price_changes: null }, 'it has no price_changes'],
    [{ ...changed, price_changes: [change] }, 'it has no asset_id'],
    [{ ...changed, changes: [{ ...change, side: 'HOLD' }] }, 'a side is none'],
    [{ ...print, side: undefined }, 'it has no side'],
    [bids({ price: 0.5 }), 'it has no price'],
    ...['', '.', '1', '0', '0.00001', '1.5', '-0.5', '5e-1', '0.5.0', '0,5', ' 0.5'].map(
      (price) => [bids({ price }), 'a price is none'] as const,
    ),
    ...['', 'NaN', '1.', '-1', '1e3', '9007199254.740992'].map(
      (size) => [bids({ size }), 'a size is none'] as const,
    ),
    [{ ...tick, new_tick_size: 0.01 }, 'it has no new_tick_size'],
    [{ ...tick, new_tick_size: '0' }, 'a new_tick_size is none'],
    [{ event_type: 'market_resolved' }, 'it has no market'],
  ];
  for (const [message, why] of damaged) {
    assert.throws(
      () => readEvents(message as never),
      (error) => error instanceof DamagedMessage && error.message === why,
      JSON.stringify(message),
    );
  }
  // Whatever is put in the place of a member.
  for (const message of sound.map((each) => JSON.stringify(each))) {
    for (const [member] of message.matchAll(/"[^"]*"|\{[^{}]*\}|\[[^[\]]*\]/g)) {
      for (const other of ['null', '7', '""', '[]', '{}', '[null]', '"x"', 'true']) {
        const text = message.replace(`:${member}`, `:${other}`);
        try {
          readEvents(JSON.parse(text));
        } catch (error) {
          assert(error instanceof DamagedMessage, `${text}: ${error}`);
        }
      }
    }
  }
});
