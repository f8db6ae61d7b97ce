import assert from 'node:assert/strict';
import test from 'node:test';
import { freePort } from '../../bench/common/free-port.ts';
import { parseChoice } from '../../server/common/market-choice.ts';
import { BookMirror } from '../../server/paper/book-mirror.ts';
import { shownMirror } from '../../server/paper/mirror-facts.ts';
import { SourceApi } from '../../server/paper/source-api.ts';
import { until } from '../common/node-harness.ts';
import { FakeVenue } from './fake-source.ts';
import { MirroredEngine } from './mirrored-engine.ts';

const MARKETS = 230;
/** Tokens of one connection. */
const TOKENS_MAX = 400;
/** Tokens of one request for books. */
const ITEMS_MAX = 50;

let marks = 0;

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

test('markets of over 400 tokens are followed by two connections, and a later market joins one', async (t) => {
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
  await until(() => mirrored.staleCount('disconnected') === MARKETS + 1);
  for (const token of firstTokens(venue)) own(venue, token);
  await mirrored.equal();
  assert.deepEqual(sizes(), [TOKENS_MAX, all + 2 - TOKENS_MAX]);
});

test('snapshots of many books come in pages, and a refused one delays no other', async (t) => {
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
  await until(() => mirrored.staleCount('gap') === MARKETS);
  await mirrored.equal();
  assert.deepEqual(answered.sort(), tokens.sort());
  assert(venue.asked.every(({ length }) => length <= ITEMS_MAX));
});

test('markets with orders or shares come before others of `top:N` after a restart', async (t) => {
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

test('markets without two outcomes are counted, and leave their places in top:N to others', async (t) => {
  const mirrored = await MirroredEngine.start(t, own, { markets: 6 });
  const { venue } = mirrored;
  const [first, second] = venue.markets;
  for (const market of [first!, second!])
    venue.said.set(market.conditionId, { clobTokenIds: '["1","2","3"]' });
  await mirrored.startAgain('top:3');
  await until(() => mirrored.mirror.facts().live === 3);
  const others = [first!.conditionId, second!.conditionId].sort();
  const facts = mirrored.mirror.facts();
  assert.deepEqual([facts.leftOut, facts.absent], [others, 0]);
  const shown = shownMirror(facts);
  assert.deepEqual([shown.books.left_out, shown.left_out], [2, others]);
  const said = `mirror: 2 markets without two outcomes are left out: ${others.join(', ')}`;
  assert.equal(mirrored.lines.filter((line) => line === said).length, 1);
  // One that is named is counted, too; one that has closed is not.
  venue.said.set(second!.conditionId, { clobTokenIds: '["1","2","3"]', closed: true });
  await mirrored.startAgain(`${first!.conditionId},${second!.conditionId}`);
  await until(() => mirrored.mirror.facts().leftOut.length === 1);
  assert.deepEqual(mirrored.mirror.facts().leftOut, [first!.conditionId]);
});

test('an unreachable stream is logged once with its address and reason', async (t) => {
  const venue = await FakeVenue.start(t);
  const port = await freePort();
  const lines: string[] = [];
  const streamUrl = `ws://127.0.0.1:${port}/ws/market`;
  const mirror = new BookMirror({
    url: venue.url,
    streamUrl,
    rate: 10,
    refreshMs: 60_000,
    traded: [],
    api: new SourceApi(venue.url, venue.url, new AbortController().signal),
    choice: parseChoice('top:1')!,
    node: {
      aligned: (market) => market,
      contradictions: () => ({ count: 0, first: [] }),
      isTradable: () => true,
      hasEnded: () => false,
      apply: async () => undefined,
      pull: () => undefined,
    },
    settle: async () => [],
    times: { pingMs: 1_000, silenceMs: 10_000, againMs: 5 },
    log: (_, line) => void lines.push(line),
  });
  t.after(() => mirror.close());
  const problem = `mirror: ${streamUrl}: connect ECONNREFUSED 127.0.0.1:${port}`;
  await until(() => lines.includes(problem));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(lines.filter((line) => line.includes(streamUrl)).length, 1);
});
