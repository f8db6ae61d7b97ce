import assert from 'node:assert/strict';
import test from 'node:test';
import type { RequestContext } from '../../server/http/request-context.ts';
import { type HandlersOf, handlersOf } from '../../server/http/route.ts';
import { BookRenderer } from '../../server/market-data/books.ts';
import { TOKEN_ROUTES, TokenRouteReads } from '../../server/market-data/token-routes.ts';
import { TopReader } from '../../server/market-data/top.ts';
import { turnsOf } from '../common/turns.ts';
import { Fixture, SMALL } from './read-fixture.ts';

const MARKETS = 120;
const UNKNOWN = 100;
const SHARES = 10_000_000;

function idOf(place: number): string {
  return `${100_000 + place}`.padEnd(77, '7');
}

/** Pairs with bids for the first outcome; the last ids are unknown. */
function exchangeOf() {
  const fixture = new Fixture({ ...SMALL, markets: MARKETS, tokens: 2 * MARKETS });
  const firsts = Array.from({ length: MARKETS }, (_, market) => {
    const ids = [idOf(2 * market), idOf(2 * market + 1)];
    const token = fixture.market(2, 100, false, undefined, ids);
    fixture.order({ token, wallet: 1, ticks: 20, shares: SHARES });
    return token;
  });
  const reads = new TokenRouteReads({
    config: { priceOfBuy: 'ask', booksSide: 'heed', untraded: 'refuse' },
    books: new BookRenderer(fixture.t, fixture.texts),
    tops: new TopReader(fixture.t),
    commits: undefined,
    whenBatchesDone: () => assert.fail('nobody writes while it is read'),
  });
  return { firsts, fixture, handlers: handlersOf(TOKEN_ROUTES, reads) };
}

type Route = 'POST /prices' | 'POST /last-trades-prices' | 'POST /books';

/** First outcomes before all second ones, so that pairs are apart. */
const ids = [0, 1].flatMap((outcome) =>
  Array.from({ length: MARKETS }, (_, market) => idOf(2 * market + outcome)),
);
const strangers = Array.from({ length: UNKNOWN }, (_, i) => idOf(2 * MARKETS + i));
const body = Buffer.from(JSON.stringify([...ids, ...strangers].map((token_id) => ({ token_id }))));

/** Answer of a handler, and true when it came at once. */
function ask(handlers: HandlersOf<typeof TOKEN_ROUTES>, route: Route) {
  let text = '';
  const reply = (status: number, answer: string | Uint8Array): void => {
    assert.equal(status, 200);
    text = Buffer.from(answer as string).toString();
  };
  const exchange = { aborted: false, body, bodyBytes: body, reply, replyTransient: reply };
  const done = handlers[route](exchange as unknown as RequestContext, {} as never, undefined);
  return { done, text: () => text };
}

test('new ids are looked up with pauses, and without pauses when they are requested again', async () => {
  for (const route of ['POST /prices', 'POST /last-trades-prices', 'POST /books'] as const) {
    const { firsts, fixture, handlers } = exchangeOf();
    for (const token of firsts) {
      fixture.order({ token, wallet: 2, sell: true, ticks: 20, shares: SHARES / 2 });
    }
    const slow = ask(handlers, route);
    const { turns } = await turnsOf(slow.done!);
    assert(turns >= Math.floor((ids.length + UNKNOWN) / 64), `${route}: ${turns} turns`);
    const known = ids.filter((id) => slow.text().includes(id));
    assert.equal(known.length, route === 'POST /last-trades-prices' ? MARKETS : ids.length, route);
    assert(!strangers.some((id) => slow.text().includes(id)), route);
    if (route === 'POST /books') continue;
    const fast = ask(handlers, route);
    // Those that name nothing are looked up again.
    if (fast.done !== undefined) assert((await turnsOf(fast.done)).turns < turns, route);
    assert.equal(fast.text(), slow.text(), route);
  }
});

test('a change during the lookup is in the whole answer: the two prices of each pair still add up', async () => {
  const { firsts, fixture, handlers } = exchangeOf();
  const request = ask(handlers, 'POST /prices');
  setImmediate(() =>
    setImmediate(() => {
      for (const token of firsts) fixture.order({ token, wallet: 1, ticks: 30, shares: SHARES });
    }),
  );
  await request.done;
  const prices = JSON.parse(request.text()) as Record<string, { BUY?: string; SELL?: string }>;
  for (let market = 0; market < MARKETS; market++) {
    assert.deepEqual(prices[idOf(2 * market)], { SELL: '0.3' });
    assert.deepEqual(prices[idOf(2 * market + 1)], { BUY: '0.7' });
  }
});
