import assert from 'node:assert/strict';
import test from 'node:test';
import { BOOK_I, Book, TOKEN_I, Token } from '../../engine/tables/layout.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { BookRenderer, LONG, renderBooks } from '../../server/market-data/books.ts';
import { renderBooksLong } from '../../server/market-data/books-long.ts';
import { type BookSide, TokenRequest } from '../../server/market-data/token-request.ts';
import { Fixture, idWords, SMALL, wordsHex } from './read-fixture.ts';

const MARKETS = 4;
const LEVELS = 3_000;

const fixture = new Fixture({ ...SMALL, levels: 200_000 });
const firsts: TokenRow[] = [];
for (let market = 0; market < MARKETS; market++) {
  const token = fixture.market(2, 10_000);
  firsts.push(token);
  for (let level = 1; level <= LEVELS; level++) {
    fixture.order({ wallet: 1, token, ticks: level, shares: 1_000_000 });
  }
}

function tokenText(market: number, outcome: number): string {
  return BigInt(wordsHex(idWords(1_000 + market * 100 + outcome))).toString();
}

/** All tokens, second outcomes last, so that pairs are apart. */
const ids = [0, 1].flatMap((outcome) => firsts.map((_, i) => tokenText(i + 1, outcome)));

function request(sides: readonly BookSide[] = []): TokenRequest {
  const wanted = new TokenRequest(fixture.texts.known);
  wanted.take(ids, sides);
  return wanted;
}

function versionOf(first: TokenRow): number {
  return (fixture.t.tokenI[(first << TOKEN_I) + Token.book]! << BOOK_I) + Book.version;
}

/** Makes all cached books stale. */
function change(): void {
  for (const first of firsts) Atomics.add(fixture.t.bookI, versionOf(first), 2);
}

const settledAtOnce = (callback: () => void): void => void setImmediate(callback);

test('deep books without a cache entry are rendered with pauses', async () => {
  const renderer = new BookRenderer(fixture.t, fixture.texts);
  assert.equal(renderBooks(renderer, request()), LONG);
  change();
  let pauses = 0;
  let isDone = false;
  const count = (): void => {
    pauses += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const parts = { renderer, whenBatchesDone: settledAtOnce, isGone: () => false };
  const body = await renderBooksLong(parts, request(['', 'BUY', 'SELL']));
  isDone = true;
  assert(pauses >= 2, `${pauses} pauses`);
  const single = new BookRenderer(fixture.t, fixture.texts);
  const expected = [0, 1].flatMap((outcome) =>
    firsts.map((token, i) => {
      const side = (['', 'BUY', 'SELL'] as const)[outcome * MARKETS + i] ?? '';
      return JSON.parse(single.render((token + outcome) as TokenRow, side)!.toString()) as unknown;
    }),
  );
  assert.deepEqual(JSON.parse(body!.toString()), expected);
});

test('an answer waits for a writer, and is not made for a caller that has disconnected', async () => {
  const renderer = new BookRenderer(fixture.t, fixture.texts);
  change();
  Atomics.add(fixture.t.bookI, versionOf(firsts[1]!), 1);
  let waits = 0;
  const whenBatchesDone = (callback: () => void): void => {
    waits += 1;
    if (waits === 2) Atomics.add(fixture.t.bookI, versionOf(firsts[1]!), 1);
    setImmediate(callback);
  };
  const body = await renderBooksLong({ renderer, whenBatchesDone, isGone: () => false }, request());
  assert.equal(waits, 2);
  assert.equal((JSON.parse(body!.toString()) as unknown[]).length, ids.length);
  let asked = 0;
  const isGone = (): boolean => ++asked > 3;
  assert.equal(await renderBooksLong({ renderer, whenBatchesDone, isGone }, request()), undefined);
});
