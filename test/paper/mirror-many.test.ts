/** A source with more markets than one connection, one request or one page takes. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '../common/node-harness.ts';
import type { FakeVenue } from './fake-source.ts';
import { MirroredEngine } from './mirrored-engine.ts';

const MARKETS = 230;
/** Of one connection. */
const TOKENS_MAX = 400;
/** Of one request for books. */
const ITEMS_MAX = 50;

let marks = 0;

/** Levels that no other book has. */
function own(venue: FakeVenue, token: string): void {
  marks += 1;
  venue.change(token, [
    ['BUY', '0.4', String(marks)],
    ['SELL', '0.43', String(marks)],
  ]);
}

function many(t: Parameters<typeof MirroredEngine.start>[0]): Promise<MirroredEngine> {
  const set = (venue: FakeVenue, token: string): void => {
    venue.hasPlaces = true;
    own(venue, token);
  };
  return MirroredEngine.start(t, set, { markets: MARKETS });
}

function firstTokens({ markets }: FakeVenue): string[] {
  return markets.map(({ tokenIds }) => tokenIds[0]!);
}

test('markets of over 400 tokens are followed by two connections, and a later one finds its place', async (t) => {
  const mirrored = await many(t);
  const { venue } = mirrored;
  const sizes = (): number[] => venue.subscriptions.sort((a, b) => b - a);
  const all = 2 * MARKETS;
  assert.deepEqual(sizes(), [TOKENS_MAX, all - TOKENS_MAX]);
  assert(venue.markets.every(({ tokenIds }) => tokenIds.every((token) => venue.isFollowed(token))));
  for (const token of firstTokens(venue)) own(venue, token);
  await mirrored.equal();

  const { tokenIds } = venue.list();
  own(venue, tokenIds[0]!);
  venue.tellAll({ event_type: 'new_market', market: 'x' });
  await mirrored.equal();
  assert.deepEqual(sizes(), [TOKENS_MAX, all + 2 - TOKENS_MAX]);
  own(venue, tokenIds[0]!);
  await mirrored.equal();

  venue.dropConnections();
  await until(() => mirrored.doubts('disconnected') === MARKETS + 1);
  for (const token of firstTokens(venue)) own(venue, token);
  await mirrored.equal();
  assert.deepEqual(sizes(), [TOKENS_MAX, all + 2 - TOKENS_MAX]);
});

test('snapshots of many books come in pages, and one that is refused keeps no other one back', async (t) => {
  const mirrored = await many(t);
  const { venue } = mirrored;
  const tokens = firstTokens(venue);
  // Books are known by their places from their first event on.
  for (const token of tokens) own(venue, token);
  await mirrored.equal();
  await until(() => venue.asked.flat().length >= MARKETS);
  venue.asked.length = 0;
  const answered: string[] = [];
  venue.refuses = (page) => {
    const isRefused = venue.snapshots % 3 === 2;
    if (!isRefused) answered.push(...page);
    return isRefused;
  };
  for (const token of tokens) {
    venue.change(token, [['BUY', '0.41', String(marks)]], { isSilent: true });
    venue.lose(token);
    own(venue, token);
  }
  await until(() => mirrored.doubts('gap') === MARKETS);
  await mirrored.equal();
  assert.deepEqual(answered.sort(), tokens.sort());
  assert(venue.asked.every(({ length }) => length <= ITEMS_MAX));
});

test('after a restart, markets that somebody has orders or shares of come before others of `top:N`', async (t) => {
  const mirrored = await MirroredEngine.start(t, own, { markets: 5 });
  const { sim, venue } = mirrored;
  const [, first, second, third] = venue.markets;
  sim.deposit(1, 1e9);
  mirrored.place({ account: 1, side: 'buy', ticks: 1, size: 5e6 }, third);
  mirrored.place({ account: 1, side: 'buy', ticks: 43, size: 5e6, type: 'FAK' }, second);
  await mirrored.startAgain(`${first!.conditionId},top:3`);
  const live = (): unknown[] =>
    venue.markets.filter((market) => mirrored.levels(market).asks.length > 0);
  await until(() => live().length === 3);
  assert.deepEqual(live(), [first, second, third]);
  await mirrored.startAgain('top:5');
  await until(() => live().length === 5);
});
