/**
 * One recording and one strategy give one result, from memory and from a file, under every setting.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { SourceStream, STARTED } from '../../bench/paper/source-stream.ts';
import {
  type BacktestOptions,
  type BacktestResult,
  backtest,
  type Strategy,
  type Venue,
} from '../../server/backtest/backtest.ts';
import { RecordingWriter } from '../../storage/recordings/writer.ts';
import { temporaryDirectory } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { ROOT } from '../common/root.ts';

const SHARED = join(ROOT, '../shared/data');
const SETTINGS: readonly BacktestOptions[] = (['keep', 'restore'] as const).flatMap((impact) =>
  (['pessimistic', 'proportional'] as const).map((queue) => ({ impact, queue })),
);

function erratic(seed: number): Strategy {
  const random = new Random(seed);
  const act = (venue: Venue): void => {
    const market = random.pick(venue.markets);
    const token = random.pick(market.tokens);
    const { ask = 0.5, bid = 0.5, tick } = venue.book(token);
    const dice = random.below(30);
    if (dice === 0) venue.cancelAll();
    else if (dice === 1) venue.split(market, random.between(1, 50));
    else if (dice === 2) venue.merge(market, random.between(1, 20));
    else if (dice === 3)
      for (const order of venue.openOrders(token).slice(0, 1)) venue.cancel(order);
    else {
      venue.place({
        token,
        side: random.below(3) === 0 ? 'SELL' : 'BUY',
        type: random.pick(['GTC', 'GTC', 'GTC', 'FAK', 'FOK'] as const),
        price: (random.below(2) === 0 ? bid : ask) + random.between(-2, 2) * tick,
        size: random.between(5, 400),
      });
    }
  };
  return {
    everyMs: 1_700,
    onTime: act,
    onTrade: (_, venue) => act(venue),
    onFill: (_, venue) => void (random.below(4) === 0 && act(venue)),
  };
}

function assertSound(result: BacktestResult): void {
  const { equity, figures, fills, markets } = result;
  const profits = markets.reduce((sum, { profit }) => sum + profit, 0);
  // Markets of which nothing but complete sets was had are not listed, and brought nothing.
  assert(Math.abs(profits - figures.profit) < 1e-6, `${profits} is ${figures.profit}`);
  assert(
    equity.drawdown.every((amount) => amount >= 0 && amount <= figures.drawdown.amount + 1e-9),
  );
  assert(fills.every(({ cash, position }) => cash >= 0 && position >= 0));
  assert.equal(fills.filter(({ brought }) => brought !== undefined).length, figures.closings);
  assert.equal(result.levelsRefused, 0);
}

test('two runs over a drawn source are equal under every setting, with and without delays', async () => {
  const seed = freshSeed();
  const stream = new SourceStream(String(seed), 3);
  const entries = [...stream.catalog(), ...stream.messages(3_000)];
  const path = join(temporaryDirectory(), 'drawn.rec');
  const markets = stream.markets.map(({ id }) => id);
  const writer = await RecordingWriter.create(path, { venue: 'drawn', started: STARTED, markets });
  for (const entry of entries) await writer.write(entry);
  await writer.close(entries.at(-1)!.at);
  const results = new Set<string>();
  for (const settings of SETTINGS) {
    for (const latencyMs of [0, 300]) {
      const options = { ...settings, latencyMs, feeBps: 50, cash: 20_000 };
      const one = await backtest(entries, () => erratic(seed), options);
      const two = await backtest(path, erratic(seed), options);
      assert(one.figures.fills > 20, `seed ${seed}: ${one.figures.fills} fills`);
      assertSound(one);
      // The entry that ends a file counts there alone.
      assert.deepEqual({ ...two, messages: one.messages }, one, `seed ${seed}`);
      results.add(JSON.stringify(one.fills));
    }
  }
  assert(results.size > 4, `seed ${seed}: the settings matter`);
});

const skip = existsSync(SHARED) ? false : 'the shared recordings are not here';

test('runs over recordings in the public form infer trades and are equal', {
  skip,
}, async () => {
  const names = readdirSync(SHARED).filter((name) => name.startsWith('book-stream-'));
  assert(names.length > 0);
  const seed = freshSeed();
  for (const name of names) {
    const path = join(SHARED, name);
    const one = await backtest(path, () => erratic(seed), { latencyMs: 100 });
    assert(one.figures.fills > 0, `${name}, seed ${seed}`);
    assertSound(one);
    assert.deepEqual(await backtest(path, () => erratic(seed), { latencyMs: 100 }), one, name);
  }
});
