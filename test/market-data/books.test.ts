import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import test from 'node:test';
import { OrderType } from '../../engine/commands.ts';
import { RejectReason } from '../../engine/orders/reject-reasons.ts';
import { Status } from '../../engine/tables/codes.ts';
import { bookVersion } from '../../engine/tables/depth.ts';
import {
  BOOK_I,
  Book,
  Flag,
  ORDER_F,
  ORDER_I,
  Order,
  State,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import { allocateEngine, type Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { BookRenderer, LONG, renderBooks } from '../../server/market-data/books.ts';
import { renderLastPrices } from '../../server/market-data/last-prices.ts';
import { type BookSide, TokenRequest } from '../../server/market-data/token-request.ts';
import { TopReader } from '../../server/market-data/top.ts';
import { startThread } from '../common/forms.ts';
import { freshSeed, rounds, withSeed } from '../common/random.ts';
import { Fixture, idWords, plain, SMALL, wordsHex } from './read-fixture.ts';

interface Level {
  readonly price: string;
  readonly size: string;
}
interface BookJson {
  readonly market: string;
  readonly asset_id: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly min_order_size: string;
  readonly tick_size: string;
  readonly neg_risk: boolean;
  readonly last_trade_price: string;
}

/** Time in which a thread without a processor reads a changing book. */
const READ_MS_MAX = 60_000;

const VECTOR =
  '{"market":"0xaabbcc","asset_id":"100","timestamp":"123456789","hash":"",' +
  '"bids":[{"price":"0.3","size":"100"},{"price":"0.4","size":"100"}],' +
  '"asks":[{"price":"0.6","size":"100"},{"price":"0.7","size":"100"}],' +
  '"min_order_size":"100","tick_size":"0.01","neg_risk":false,"last_trade_price":"0.5"}';

/** Hash by the client's recipe: the received object with an empty hash. */
function hashByClient(book: BookJson): string {
  return createHash('sha1')
    .update(JSON.stringify({ ...book, hash: '' }))
    .digest('hex');
}

function tokenText(market: number, outcome: number): string {
  return BigInt(wordsHex(idWords(1_000 + market * 100 + outcome))).toString();
}

function open(fixture: Fixture): BookRenderer {
  return new BookRenderer(fixture.t, fixture.texts);
}

function bookOf(renderer: BookRenderer, token: number): BookJson {
  const bytes = renderer.render(token as TokenRow);
  assert(bytes !== undefined);
  return JSON.parse(bytes.toString()) as BookJson;
}

function request(
  fixture: Fixture,
  tokens: readonly string[],
  sides: readonly BookSide[] = [],
): TokenRequest {
  const wanted = new TokenRequest(fixture.texts.known);
  wanted.take(tokens, sides);
  return wanted;
}

function booksText(
  renderer: BookRenderer,
  fixture: Fixture,
  tokens: readonly string[],
  sides: readonly BookSide[] = [],
): string | undefined {
  const bytes = renderBooks(renderer, request(fixture, tokens, sides));
  assert(bytes !== LONG);
  return bytes && Buffer.from(bytes).toString();
}

function lastPricesText(fixture: Fixture, tokens: readonly string[]): string | undefined {
  const bytes = renderLastPrices(fixture.t, fixture.texts.known, request(fixture, tokens));
  return bytes && Buffer.from(bytes).toString();
}

function booksOf(
  renderer: BookRenderer,
  fixture: Fixture,
  tokens: readonly string[],
  sides: readonly BookSide[] = [],
): BookJson[] {
  const text = booksText(renderer, fixture, tokens, sides);
  assert(text !== undefined);
  return JSON.parse(text) as BookJson[];
}

test('the hash recipe gives the published vectors', () => {
  const vector = JSON.parse(VECTOR) as BookJson;
  assert.equal(hashByClient(vector), '0458ea5755c9f73d64a14636fa5c36ed460ec394');
  const empty = { ...vector, timestamp: '', bids: [], asks: [] };
  assert.equal(hashByClient(empty), '74c6a7c81c1d572f1c877b7d3e25b80c336d8a6e');
});

test('a book has the members, the order and the texts of the document, best level last', () => {
  const fixture = new Fixture();
  const yes = fixture.market(2, 100, true);
  const lot = 1_000_000;
  fixture.order({ wallet: 1, token: yes, ticks: 47, shares: 2_500 * lot });
  fixture.order({ wallet: 1, token: yes, ticks: 48, shares: 1_000 * lot + 500_000 });
  fixture.order({ wallet: 2, token: yes, ticks: 53, shares: 1_500 * lot, sell: true });
  fixture.order({ wallet: 2, token: yes, ticks: 52, shares: 900 * lot, sell: true });
  const taken = { token: yes, ticks: 52, shares: 100 * lot, type: OrderType.FOK };
  assert.equal(fixture.order({ wallet: 3, ...taken }), RejectReason.accepted);

  const renderer = open(fixture);
  const text = renderer.render(yes)!.toString();
  const book = JSON.parse(text) as BookJson;
  const expected =
    `{"market":"${wordsHex(idWords(1))}","asset_id":"${tokenText(1, 0)}",` +
    `"timestamp":"${fixture.time}","hash":"${hashByClient(book)}",` +
    '"bids":[{"price":"0.47","size":"2500"},{"price":"0.48","size":"1000.5"}],' +
    '"asks":[{"price":"0.53","size":"1500"},{"price":"0.52","size":"800"}],' +
    '"min_order_size":"0.01","tick_size":"0.01","neg_risk":true,"last_trade_price":"0.52"}';
  assert.equal(text, expected);

  const mirror = bookOf(renderer, yes + 1);
  assert.deepEqual(mirror.bids, [
    { price: '0.47', size: '1500' },
    { price: '0.48', size: '800' },
  ]);
  assert.deepEqual(mirror.asks, [
    { price: '0.53', size: '2500' },
    { price: '0.52', size: '1000.5' },
  ]);
  assert.equal(mirror.asset_id, tokenText(1, 1));
  assert.equal(mirror.timestamp, book.timestamp);
  assert.equal(mirror.last_trade_price, '');
  assert.equal(mirror.hash, hashByClient(mirror));
});

test('a registered token without orders has a full object with empty sides', () => {
  const fixture = new Fixture();
  const token = fixture.market(3, 10_000);
  const book = bookOf(open(fixture), token + 2);
  assert.deepEqual([book.bids, book.asks, book.last_trade_price], [[], [], '']);
  assert.equal(book.timestamp, String(fixture.time));
  assert.equal(book.tick_size, '0.0001');
  assert.equal(book.neg_risk, false);
  assert.equal(book.hash, hashByClient(book));
});

test('unknown tokens are left out and repeated ones answered once, at the first position', () => {
  const fixture = new Fixture();
  fixture.market(2, 100);
  fixture.market(2, 10);
  const renderer = open(fixture);
  const [a, b] = [tokenText(1, 0), tokenText(2, 1)];
  const requested = ['1', b, a, b, '', 'x', `0${a}`, '9'.repeat(90), a];
  assert.deepEqual(
    booksOf(renderer, fixture, requested).map((book) => book.asset_id),
    [b, a],
  );
  assert.equal(booksText(renderer, fixture, []), '[]');
  assert.equal(booksText(renderer, fixture, ['5'], ['']), '[]');
});

test('tokens that are registered later are found', () => {
  const fixture = new Fixture();
  fixture.market(2, 100);
  const renderer = open(fixture);
  assert.equal(booksOf(renderer, fixture, [tokenText(2, 0)]).length, 0);
  fixture.market(2, 100);
  assert.equal(booksOf(renderer, fixture, [tokenText(2, 0)]).length, 1);
});

test('an item with a side gets only that side, and a hash of what it gets', () => {
  const fixture = new Fixture();
  const token = fixture.market(2, 100);
  fixture.order({ wallet: 1, token, ticks: 40, shares: 5_000_000 });
  fixture.order({ wallet: 1, token, ticks: 60, shares: 5_000_000, sell: true });
  const renderer = open(fixture);
  const id = tokenText(1, 0);
  const [buy] = booksOf(renderer, fixture, [id], ['BUY']);
  const [sell] = booksOf(renderer, fixture, [id], ['SELL']);
  const [both] = booksOf(renderer, fixture, [id, id], ['BUY', 'SELL']);
  assert.deepEqual([buy!.bids.length, buy!.asks.length], [1, 0]);
  assert.deepEqual([sell!.bids.length, sell!.asks.length], [0, 1]);
  assert.deepEqual([both!.bids.length, both!.asks.length], [1, 1]);
  for (const book of [buy!, sell!, both!]) assert.equal(book.hash, hashByClient(book));
});

test('an unchanged book has the same bytes, a changed one has not', () => {
  const fixture = new Fixture();
  const token = fixture.market(2, 100);
  const renderer = open(fixture);
  const before = renderer.render(token);
  assert.equal(renderer.render(token), before);
  fixture.changeMarket(1, 1_000, 7_500_000);
  const after = bookOf(renderer, token);
  assert.deepEqual([after.tick_size, after.min_order_size], ['0.001', '7.5']);
});

test('the last complete version of a book is answered, or none, while a writer changes it', () => {
  const fixture = new Fixture();
  const token = fixture.market(2, 100);
  fixture.order({ wallet: 1, token, ticks: 50, shares: 5_000_000, sell: true });
  fixture.order({ wallet: 2, token, ticks: 50, shares: 1_000_000 });
  const renderer = open(fixture);
  const complement = (token + 1) as TokenRow;
  const complete = renderer.render(token);
  const row = fixture.t.tokenI[(token << TOKEN_I) + Token.book]! << BOOK_I;
  const id = tokenText(1, 0);
  Atomics.add(fixture.t.bookI, row + Book.version, 1);
  assert.equal(renderer.render(token), complete);
  assert.equal(renderer.render(complement), undefined);
  assert.equal(booksText(renderer, fixture, [id, tokenText(1, 1)]), undefined);
  assert.equal(lastPricesText(fixture, [id]), undefined);
  Atomics.add(fixture.t.bookI, row + Book.version, 1);
  assert.notEqual(renderer.render(complement), undefined);
  assert.notEqual(renderer.render(token), complete);
});

test('last prices have token, price and side of each token that has traded, in request order', () => {
  const fixture = new Fixture();
  const pair = fixture.market(2, 100);
  const lone = fixture.market(2, 100);
  fixture.market(2, 100);
  // A buyer meets a buyer of the other outcome: both tokens trade.
  fixture.order({ wallet: 1, token: pair + 1, ticks: 40, shares: 5_000_000 });
  fixture.order({ wallet: 2, token: pair, ticks: 65, shares: 5_000_000 });
  // A seller hits a bid: only that token trades.
  fixture.order({ wallet: 1, token: lone, ticks: 57, shares: 5_000_000 });
  fixture.order({ wallet: 2, token: lone, ticks: 50, shares: 5_000_000, sell: true });
  const [a, b, c, d] = [tokenText(1, 0), tokenText(1, 1), tokenText(2, 0), tokenText(2, 1)];
  const requested = [c, '77', d, a, tokenText(3, 0), b, c];
  const text = lastPricesText(fixture, requested);
  const expected =
    `[{"token_id":"${c}","price":"0.57","side":"SELL"},` +
    `{"token_id":"${a}","price":"0.6","side":"BUY"},` +
    `{"token_id":"${b}","price":"0.4","side":"BUY"}]`;
  assert.equal(text, expected);
  assert.equal(lastPricesText(fixture, [d, '1']), '[]');
});

test('books show exactly the open orders of their token and of its complement', () => {
  withSeed((random) => {
    const fixture = new Fixture();
    const first = [fixture.market(2, 10), fixture.market(3, 10), fixture.market(2, 10)];
    const tokens = [0, 1].map((i) => first[0]! + i);
    tokens.push(first[1]!, first[1]! + 1, first[1]! + 2, first[2]!, first[2]! + 1);
    const renderer = open(fixture);
    for (let round = 0; round < 40; round++) {
      fixture.trade(random, tokens, 25, 6);
      for (const token of tokens) {
        const book = bookOf(renderer, token);
        assert.deepEqual(book.bids, levelsOf(fixture.t, token, false));
        assert.deepEqual(book.asks, levelsOf(fixture.t, token, true));
        assert.equal(book.hash, hashByClient(book));
      }
    }
  });
});

test('no book is torn while another thread trades, and prices and last trade are of its version', async () => {
  const seed = freshSeed();
  const memory = allocateEngine(SMALL);
  const fixture = new Fixture(memory);
  const token = fixture.market(2, 10);
  const ids = [tokenText(1, 0), tokenText(1, 1)];
  const renderer = open(fixture);
  const tops = new TopReader(fixture.t);
  const enough = new Int32Array(new SharedArrayBuffer(4));
  const worker = startThread('market-data/books-writer', {
    memory,
    tokens: [token, token + 1],
    orders: rounds(15_000),
    seed,
    enough,
  });
  const end = performance.now() + READ_MS_MAX;
  let isDone = false;
  const ended = once(worker, 'message').finally(() => {
    isDone = true;
  });
  const seen = new Set<string>();
  let newest = 0;
  let compared = 0;
  while (!isDone) {
    if ((seen.size > 1 && compared > 1) || performance.now() > end) Atomics.store(enough, 0, 1);
    await new Promise((resolve) => setImmediate(resolve));
    const version = bookVersion(fixture.t, token);
    const text = booksText(renderer, fixture, ids);
    const last = lastPricesText(fixture, ids);
    const top = tops.read(token as TokenRow);
    const isOneVersion = version % 2 === 0 && bookVersion(fixture.t, token) === version;
    if (text === undefined) continue;
    const [book, mirror] = JSON.parse(text) as [BookJson, BookJson];
    assert.deepEqual(mirror.bids, mirrored(book.asks), `SEED=${seed}`);
    assert.deepEqual(mirror.asks, mirrored(book.bids), `SEED=${seed}`);
    assert.equal(mirror.timestamp, book.timestamp, `SEED=${seed}`);
    seen.add(book.hash);
    assert.equal(book.hash, hashByClient(book), `SEED=${seed}`);
    assert(Number(book.timestamp) >= newest, `time goes back, SEED=${seed}`);
    newest = Number(book.timestamp);
    const [bid, ask] = [book.bids.at(-1), book.asks.at(-1)];
    if (bid && ask) assert(Number(bid.price) < Number(ask.price), `crossed, SEED=${seed}`);
    if (isOneVersion && top !== undefined) {
      assert.equal(top.version, version);
      assert.equal(top.bid / 10_000, Number(bid?.price ?? 0), `SEED=${seed}`);
      assert.equal(top.ask / 10_000, Number(ask?.price ?? 0), `SEED=${seed}`);
      assert.equal(top.last / 10_000, Number(book.last_trade_price), `SEED=${seed}`);
      compared += 1;
    }
    if (!isOneVersion || last === undefined || book.last_trade_price === '') continue;
    const prices = JSON.parse(last) as { token_id: string; price: string }[];
    const own = prices.find((price) => price.token_id === ids[0]);
    assert.equal(own?.price, book.last_trade_price, `SEED=${seed}`);
  }
  await ended;
  await worker.terminate();
  assert(seen.size > 1, 'the book changed between reads');
  assert(compared > 1, 'tops were compared with books');
  assert.deepEqual(bookOf(renderer, token).bids, levelsOf(fixture.t, token, false));
});

/** Levels of the complement's other side. Grid of 10 ticks. */
function mirrored(levels: readonly Level[]): Level[] {
  return levels.map(({ price, size }) => ({ price: `0.${10 - Number(price.slice(2))}`, size }));
}

/** Levels of a token from every open order, worst price first. Grid of 10 ticks. */
function levelsOf(t: Tables, token: number, asks: boolean): Level[] {
  const sums = new Map<number, bigint>();
  const complement = t.tokenI[(token << TOKEN_I) + Token.complement]!;
  for (let slot = 1; slot <= t.state[State.orderRows]!; slot++) {
    const row = slot << ORDER_I;
    const flags = t.orderI[row + Order.flags]!;
    const of = t.orderI[row + Order.token]!;
    if (((flags >>> Flag.statusShift) & 7) !== Status.live) continue;
    if (of !== token && (complement === 0 || of !== complement)) continue;
    const isAsk = ((flags & Flag.sell) !== 0) === (of === token);
    if (isAsk !== asks) continue;
    const bookTicks = t.orderI[row + Order.price]!;
    const mirrored = t.tokenI[(token << TOKEN_I) + Token.mirrored] === 1;
    const ticks = mirrored ? 10 - bookTicks : bookTicks;
    const remaining = BigInt(t.orderF[(slot << ORDER_F) + Order.remaining]!);
    sums.set(ticks, (sums.get(ticks) ?? 0n) + remaining);
  }
  const sorted = [...sums].sort(([a], [b]) => (asks ? b - a : a - b));
  return sorted.map(([ticks, micro]) => ({ price: `0.${ticks}`, size: plain(micro) }));
}
