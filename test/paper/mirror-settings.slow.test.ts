import assert from 'node:assert/strict';
import test from 'node:test';
import {
  book,
  get,
  levels,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { FakeVenue } from './fake-source.ts';
import { MirroredEngine } from './mirrored-engine.ts';

const SHARE = 1_000_000;
/** More than the time between a print and the decrease that it explains. */
const LATER_MS = 2_001;

function usual(venue: FakeVenue, token: string): void {
  venue.change(token, [
    ['BUY', '0.4', '100'],
    ['SELL', '0.43', '80'],
    ['SELL', '0.44', '50'],
  ]);
}

/** Asks after a paper order took from them, read after messages that each mark the bids. */
async function asksAfterTaking(mirrored: MirroredEngine): Promise<string[][]> {
  const { sim, token, venue } = mirrored;
  sim.deposit(1, 1_000 * SHARE);
  const take = (shares: number): void => {
    mirrored.place({ account: 1, side: 'buy', type: 'FAK', ticks: 44, size: shares * SHARE });
  };
  const seen: string[][] = [];
  let marks = 0;
  const recordAfter = async (say: () => void): Promise<void> => {
    marks += 1;
    const mark = `${marks}@0.39`;
    say();
    venue.change(token, [['BUY', '0.39', String(marks)]]);
    await until(() => mirrored.levels().bids.includes(mark));
    seen.push(mirrored.levels().asks);
  };
  take(100);
  seen.push(mirrored.levels().asks);
  await recordAfter(() => undefined);
  await recordAfter(() => venue.sendBook(token));
  await recordAfter(() => venue.change(token, [['SELL', '0.43', '70']]));
  return seen;
}

test('size that a paper order took comes back with the next change of its level, and of no other one', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual, { impact: 'keep' });
  assert.deepEqual(await asksAfterTaking(mirrored), [
    ['30@0.44'],
    ['30@0.44'],
    ['30@0.44'],
    ['30@0.44', '70@0.43'],
  ]);
});

test('size that a paper order took comes back with the next message of its book under `restore`', async (t) => {
  const mirrored = await MirroredEngine.start(t, usual, { impact: 'restore' });
  assert.deepEqual(await asksAfterTaking(mirrored), [
    ['30@0.44'],
    ['50@0.44', '80@0.43'],
    ['50@0.44', '80@0.43'],
    ['50@0.44', '70@0.43'],
  ]);
  // It can be taken again.
  const { sim, token, venue } = mirrored;
  mirrored.place({ account: 1, side: 'buy', type: 'FAK', ticks: 43, size: 70 * SHARE });
  venue.change(token, [['BUY', '0.39', '9']]);
  await mirrored.equal();
  assert.equal(sim.cash(1).total, (1_000 - 80 * 0.43 - 20 * 0.44 - 70 * 0.43) * SHARE);
});

// 100 shares are ahead of an order of 10 and 100 behind it when 60 of them leave without a print.
for (const { laterMs, prints, queue } of [
  // 100 are ahead still, then 25.
  {
    queue: 'pessimistic',
    laterMs: LATER_MS,
    prints: ['75: 65 left, 10 open', '30: 35 left, 5 open'],
  },
  // 70 are ahead, then none.
  {
    queue: 'proportional',
    laterMs: LATER_MS,
    prints: ['75: 65 left, 5 open', '30: 35 left, 0 open'],
  },
  // A print that comes soon says that they were traded, and nobody cancelled.
  {
    queue: 'proportional',
    laterMs: 1_000,
    prints: ['60: 140 left, 10 open', '45: 95 left, 5 open'],
  },
] as const) {
  test(`a level that shrinks ${laterMs} ms before a print moves a paper order by the rule ${queue}`, async (t) => {
    const mirrored = await MirroredEngine.start(t, usual, { queue });
    const { sim, token, venue } = mirrored;
    sim.deposit(1, 1_000 * SHARE);
    const order = mirrored.place({ account: 1, side: 'buy', ticks: 40, size: 10 * SHARE });
    venue.change(token, [['BUY', '0.4', '200']]);
    await until(() => mirrored.levels().bids[0] === '210@0.4');
    venue.change(token, [['BUY', '0.4', '140']]);
    await until(() => mirrored.levels().bids[0] === '150@0.4');
    venue.pass(laterMs);
    const seen: string[] = [];
    for (const [printed = '', left = ''] of prints.map((print) => print.match(/\d+/g) ?? [])) {
      venue.print(token, 'SELL', '0.4', printed);
      venue.change(token, [['BUY', '0.4', left]]);
      venue.change(token, [['BUY', '0.01', left]]);
      await until(() => mirrored.levels().bids.includes(`${left}@0.01`));
      seen.push(`${printed}: ${left} left, ${sim.remaining(order) / SHARE} open`);
      venue.pass(LATER_MS);
    }
    assert.deepEqual(seen, prints);
    assert.equal(sim.cash(1).total, 1_000 * SHARE - (10 * SHARE - sim.remaining(order)) * 0.4);
  });
}

test('a node takes both rules from its settings', async (t) => {
  const venue = await FakeVenue.start(t);
  const [market] = venue.markets;
  assert(market !== undefined);
  const token = market.tokenIds[0]!;
  usual(venue, token);
  const dataDir = temporaryDirectory();
  await withMarkets(dataDir, [{ id: 1 }]);
  const node = await TestNode.start(dataDir, {
    LEDGER: 'on',
    FAUCET: '1000',
    MIRROR_URL: venue.url,
    MIRROR_STREAM_URL: venue.streamUrl,
    MIRROR_IMPACT: 'restore',
    MIRROR_QUEUE: 'proportional',
  });
  const shows = (bids: string, asks: string) =>
    until(async () => {
      const shown = await book(node, token);
      return levels(shown.bids).join(' ') === bids && levels(shown.asks).join(' ') === asks;
    });
  await shows('100@0.4', '50@0.44 80@0.43');
  const paper = await Trader.join(node, 'paper');
  await paper.place(node, { market, side: 'BUY', ticks: 43, shares: 30, type: 'FAK' });
  await shows('100@0.4', '50@0.44 50@0.43');
  const { orderID } = await paper.place(node, { market, side: 'BUY', ticks: 40, shares: 10 });
  venue.change(token, [['BUY', '0.4', '200']]);
  await shows('210@0.4', '50@0.44 80@0.43');
  venue.change(token, [['BUY', '0.4', '140']]);
  await shows('150@0.4', '50@0.44 80@0.43');
  venue.pass(LATER_MS);
  venue.print(token, 'SELL', '0.4', '75');
  venue.change(token, [['BUY', '0.4', '65']]);
  await shows('70@0.4', '50@0.44 80@0.43');
  const { json } = await paper.call(node, 'GET', `/data/order/${orderID}`);
  assert.equal((json as { readonly size_matched: string }).size_matched, '5');
  const trades = (await get(node, '/trades?takerOnly=false')).json as { readonly size: number }[];
  assert.deepEqual(trades.map(({ size }) => size).sort(), [30, 30, 5, 5, 75]);
  await node.stop();
});
