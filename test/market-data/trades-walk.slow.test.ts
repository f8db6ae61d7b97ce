import assert from 'node:assert/strict';
import test from 'node:test';
import { rebuildIndexes } from '../../engine/orders/rebuild.ts';
import {
  FILL_DOUBLES,
  FILL_WORDS,
  Fill,
  MARKET_I,
  Market,
  State,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import { allocateEngine, Tables } from '../../engine/tables/tables.ts';
import { AccountTexts } from '../../server/market-data/account-texts.ts';
import { NewestHeap } from '../../server/market-data/newest-heap.ts';
import { TokenTexts } from '../../server/market-data/texts.ts';
import { TradesIndex } from '../../server/market-data/trades-index.ts';
import { TradesRenderer } from '../../server/market-data/trades-render.ts';
import { TRADES_QUERY, type TradesQuery } from '../../server/market-data/trades-schemas.ts';
import { TradesSelector } from '../../server/market-data/trades-select.ts';
import { Activity } from '../../server/wallet/activity.ts';
import { StatementsReader } from '../../storage/projection/reader.ts';
import { withSeed } from '../common/random.ts';
import { turnsOf } from '../common/turns.ts';
import { idWords, ROOMY } from '../engine/engine-driver.ts';
import { wordsHex } from './read-fixture.ts';

const MARKETS = 240;
const FILLS = 100_000;

/** An index of so many fills in matches of `each`, in as many markets in turn. */
function traded(fills = FILLS, each = 1): TradesIndex {
  const t = new Tables(
    allocateEngine({ ...ROOMY, markets: MARKETS, tokens: MARKETS, trades: fills }),
  );
  t.state[State.markets] = MARKETS;
  t.state[State.tokens] = MARKETS;
  for (let slot = 1; slot <= MARKETS; slot++) {
    t.marketI.set(idWords(slot), (slot << MARKET_I) + Market.condition);
    t.tokenI[(slot << TOKEN_I) + Token.market] = slot;
    t.tokenI.set(idWords(1_000 + slot), (slot << TOKEN_I) + Token.id);
  }
  rebuildIndexes(t);
  const index = new TradesIndex(t);
  addFills(index, fills, each);
  return index;
}

function addFills(index: TradesIndex, count: number, each = 1): void {
  const { fillF, fillI, fillRows } = index.tables;
  const first = index.end;
  for (let fill = first; fill < first + count; fill++) {
    const row = fill % fillRows;
    fillF[row * FILL_DOUBLES + Fill.match] = fill - (fill % each);
    fillF[row * FILL_DOUBLES + Fill.size] = 1_000_000 + fill;
    fillF[row * FILL_DOUBLES + Fill.takerCollateral] = 500_000;
    fillI[row * FILL_WORDS + Fill.takerToken] = 1 + (fill % MARKETS);
    fillI[row * FILL_WORDS + Fill.taker] = 1;
    fillI[row * FILL_WORDS + Fill.maker] = 2;
    fillI[row * FILL_WORDS + Fill.makerToken] = 1 + (fill % MARKETS);
  }
  index.append(first, first + count);
}

interface TitledRow {
  readonly title: string;
}

const ANY_ACTIVITY = {
  user: '',
  market: null,
  eventId: null,
  type: null,
  start: 0,
  end: Number.MAX_SAFE_INTEGER,
  side: '',
  sortDirection: 'DESC',
} as const;

const LEAVING = 6_000;

/** Matches of three fills, and a function that lets all but the newest `left` leave the window. */
function leaving(left: number) {
  const index = traded(LEAVING, 3);
  const renderer = new TradesRenderer(index, new TokenTexts(index.tables, () => undefined));
  const leave = (): void => addFills(index, LEAVING - 3 * left, 3);
  return { index, leave, renderer };
}

function linesOf(body: Buffer): string[] {
  return (JSON.parse(body.toString()) as object[]).map((row) => JSON.stringify(row));
}

const index = traded();
const everyMarket = Array.from({ length: MARKETS }, (_, i) => wordsHex(idWords(i + 1))).join(',');
const NOTHING = 'filterType=CASH&filterAmount=99999999';

function parsed(text: string): TradesQuery {
  const query = TRADES_QUERY.parse(text);
  assert(typeof query !== 'string', text);
  return query;
}

function activityOf(index: TradesIndex, trades: TradesRenderer): Activity {
  const infos = () => undefined;
  return new Activity({
    index,
    trades,
    infos,
    texts: new TokenTexts(index.tables, infos),
    names: new AccountTexts(index.tables, infos),
    statements: new StatementsReader(undefined),
  });
}

function selectorOf(text: string) {
  const selector = new TradesSelector(index);
  return { selector, walk: selector.select(parsed(text)) };
}

test('a walk that finds nothing pauses again and again, along any index', () => {
  for (const text of [NOTHING, `market=${everyMarket}&${NOTHING}`]) {
    const { selector, walk } = selectorOf(text);
    const pauses = [...walk].length;
    assert(pauses >= FILLS / 20_000 - 1, `${pauses} pauses`);
    assert.equal(selector.found, 0);
  }
});

test('a page of ten thousand rows, and the search for the largest of a wallet, yield to other requests', async () => {
  const texts = new TokenTexts(index.tables, () => undefined);
  const renderer = new TradesRenderer(index, texts);
  const page = await turnsOf(renderer.render(parsed('limit=10000&offset=10000')));
  assert.equal(JSON.parse(page.value.toString()).length, 10_000);
  assert(page.turns >= 10_000 / 100, `${page.turns} turns`);
  const some = parsed('limit=300');
  const new300 = await turnsOf(renderer.render(some));
  assert(new300.turns >= 3, `${new300.turns} turns of rows that are new`);
  assert(renderer.render(some) instanceof Buffer, 'cached rows come at once');
  const query = { ...ANY_ACTIVITY, limit: 500, offset: 9_500, sortBy: 'TOKENS' } as const;
  const most = await turnsOf(activityOf(index, renderer).render(1, null, query));
  assert.equal(JSON.parse(most.value.toString()).length, 500);
  assert(most.turns >= FILLS / 512, `${most.turns} turns`);
});

test('fills that leave the window while a page is read leave match by match, and the rest is whole', async () => {
  const query = parsed('limit=10000&offset=1&takerOnly=false');
  // The second pause lies behind the first row of the match with 256 before it.
  for (const left of [100, 256, 257, 1_000]) {
    const { leave, renderer } = leaving(left);
    const whole = linesOf(await renderer.render(query));
    setImmediate(() => setImmediate(leave));
    const rest = linesOf(await renderer.render(query));
    assert.equal(rest.length, 4 * left - 1);
    assert.deepEqual(rest, whole.slice(0, rest.length));
  }
});

test('activity that leaves the window while a page is read leaves match by match', async () => {
  const query = { ...ANY_ACTIVITY, limit: 5_000, offset: 0, sortBy: 'TIMESTAMP' } as const;
  for (const [left, shown] of [
    [50, 85],
    [85, 85],
    [86, 86],
    [87, 87],
    [1_000, 1_000],
  ] as const) {
    const { index, leave, renderer } = leaving(left);
    const activity = activityOf(index, renderer);
    const whole = linesOf(await activity.render(2, null, query));
    setImmediate(leave);
    const rest = linesOf(await activity.render(2, null, query));
    assert.equal(rest.length, 3 * shown, `of ${left} matches`);
    assert.deepEqual(rest, whole.slice(0, rest.length));
  }
});

test('a page of a wallet that made every fill of one large match yields to other requests', async () => {
  const large = traded(20_000, 20_000);
  const renderer = new TradesRenderer(large, new TokenTexts(large.tables, () => undefined));
  const query = { ...ANY_ACTIVITY, limit: 500, offset: 0, sortBy: 'TOKENS' } as const;
  const { turns } = await turnsOf(activityOf(large, renderer).render(2, null, query));
  assert(turns >= 20_000 / 1_024, `${turns} turns`);
});

test('a catalog change during a page is not in it, but in the next one', async () => {
  const infoOf = (text: string) => {
    const info = { question: text, slug: '', icon: '', eventSlug: '', outcomes: [] };
    return () => info;
  };
  let lookup = infoOf('before');
  const texts = new TokenTexts(
    index.tables,
    () => lookup(),
    'outcome',
    () => lookup,
  );
  const renderer = new TradesRenderer(index, texts);
  const titles = async () => {
    const rows = JSON.parse((await renderer.render(parsed('limit=500'))).toString()) as TitledRow[];
    return [...new Set(rows.map(({ title }) => title))];
  };
  const titlesBefore = titles();
  setImmediate(() =>
    setImmediate(() => {
      lookup = infoOf('after');
    }),
  );
  assert.deepEqual(await titlesBefore, ['before']);
  assert.deepEqual(await titles(), ['after']);
});

test('many markets are merged newest first, as a walk over all of them finds them', () => {
  const keys = (text: string): number[] => {
    const { selector, walk } = selectorOf(`${text}limit=1000&offset=300`);
    assert.deepEqual([...walk], [], 'a page is found without a pause');
    return [...selector.keys.subarray(0, selector.found)];
  };
  const all = keys('');
  assert.equal(all.length, 1_000);
  assert.deepEqual(keys(`market=${everyMarket}&`), all);
});

test('matches that leave the window during a walk are not in its answer, and the rest is', () => {
  const enough = (1_000_000 + index.end - 2_000) / 1e6;
  const old = `filterType=TOKENS&filterAmount=${enough}&limit=5000`;
  const { selector, walk } = selectorOf(old);
  const { end } = index;
  assert.equal(walk.next().done, false, 'it looks for more than there is');
  addFills(index, FILLS - 1_000);
  assert.equal(walk.next().done, true, 'the rest has left');
  const expected = Array.from({ length: 1_000 }, (_, i) => 2 * (end - 1 - i));
  assert.deepEqual([...selector.keys.subarray(0, selector.found)], expected);
});

test('a heap gives the newest after any replacement', () => {
  withSeed((random) => {
    const heads = Array.from({ length: 1 + random.below(40) }, () => random.below(1_000));
    const heap = new NewestHeap(heads);
    let plain = [...heads];
    while (plain.length > 0) {
      plain.sort((a, b) => b - a);
      assert.equal(heap.newest, plain[0]);
      const older = random.chance(60) && plain[0]! > 0 ? random.below(plain[0]!) : undefined;
      heap.replaceNewest(older);
      plain = older === undefined ? plain.slice(1) : [older, ...plain.slice(1)];
    }
    assert.equal(heap.newest, undefined);
  });
});
