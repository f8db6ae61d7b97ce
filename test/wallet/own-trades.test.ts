import assert from 'node:assert/strict';
import test from 'node:test';
import { OrderType } from '../../engine/commands.ts';
import { Fill } from '../../engine/tables/layout.ts';
import type { AccountRow, TokenRow } from '../../engine/tables/units.ts';
import type { KeyOwner } from '../../server/auth/auth.ts';
import { LAST_CURSOR } from '../../server/common/cursor.ts';
import { matchOfTradeId, tradeIdOf } from '../../server/common/trade-ids.ts';
import { wordsToHex } from '../../server/common/uint256.ts';
import type { RequestContext } from '../../server/http/request-context.ts';
import { handlersOf } from '../../server/http/route.ts';
import { AccountTexts, NIL_UUID } from '../../server/market-data/account-texts.ts';
import { SequenceLockReader } from '../../server/orders/exchange-memory/sequence-lock-reader.ts';
import { ACCOUNT_ROUTES, AccountReads } from '../../server/wallet/account-routes.ts';
import { type OwnTrade, OwnTrades, type TradeFilter } from '../../server/wallet/own-trades.ts';
import { NOBODY, PAGE_SIZE } from '../../server/wallet/pages.ts';
import { TradeTexts } from '../../server/wallet/trade-text.ts';
import type { WalletAccess } from '../../server/wallet/wallet-access.ts';
import { turnsOf } from '../common/turns.ts';
import { orderIdWords, walletWords, withSeedAsync } from '../market-data/read-fixture.ts';

import { Desk } from './trades-desk.ts';

const ANY: TradeFilter = {
  market: 0,
  token: 0,
  wallet: 0,
  taker: 0,
  maker: 0,
  before: Number.POSITIVE_INFINITY,
  after: Number.NEGATIVE_INFINITY,
};
/** Nobody's wallets are read here. */
const NO_ACCESS = {
  readable: (_: unknown, caller: Uint8Array) => Promise.resolve(caller),
} as unknown as WalletAccess;
const KEY = '11111111-2222-4333-8444-555555555555';

interface OrderJson {
  readonly associate_trades: readonly string[];
}

test('pages hold the trades of their owner, newest first, by every filter', async () => {
  await withSeedAsync(async (random) => {
    const desk = new Desk();
    const pair = desk.fixture.market(2, 10);
    const cup = desk.fixture.market(3, 10);
    const tokens = [pair, pair + 1, cup, cup + 1, cup + 2];
    let found = 0;
    for (let round = 0; round < 4; round++) {
      // The window holds 400 fills: from the second round on, old ones leave it.
      desk.trade(random, tokens, 600);
      const trades = new OwnTrades(desk.index);
      const wallets = [0, 1, 2, 3, 4, 5, 6].map((n) => (n === 0 ? 0 : desk.account(n)));
      const now = desk.fixture.time / 1_000;
      for (let i = 0; i < 60; i++) {
        const owner = desk.account(random.pick([1, 3, 5, 6]));
        const filter: TradeFilter = {
          market: random.chance(70) ? 0 : random.between(1, 2),
          token: random.chance(70) ? 0 : random.pick(tokens),
          wallet: random.chance(80) ? 0 : random.pick(wallets),
          taker: random.chance(80) ? 0 : random.pick(wallets),
          maker: random.chance(80) ? 0 : random.pick(wallets),
          before: random.chance(80) ? ANY.before : now - random.below(900),
          after: random.chance(80) ? ANY.after : now - random.below(900),
        };
        const expected = desk.scan(owner, filter);
        found += expected.length;
        for (const offset of [0, 7, expected.length]) {
          const page = await trades.page(owner, filter, offset);
          assert.deepEqual(page.rows, expected.slice(offset, offset + PAGE_SIZE));
          assert.equal(page.more, offset + PAGE_SIZE < expected.length);
        }
        const match = random.between(desk.index.first - 5, desk.index.end + 5);
        const one = expected.find((trade) => trade.match === match);
        assert.deepEqual(trades.find(owner, match, filter), one);
        const first = expected[0];
        if (first) assert.deepEqual(trades.find(owner, first.match, filter), first);
      }
    }
    assert(found > 1_000, `${found}`);
    const none = { rows: [], more: false };
    const trades = new OwnTrades(desk.index);
    assert.deepEqual(await trades.page(0, ANY, 0), none);
    assert.deepEqual(await trades.page(desk.account(1), { ...ANY, taker: NOBODY }, 0), none);
  });
});

test('a page ends early when its trades have very many makers, and the next one continues', async () => {
  await withSeedAsync(async (random) => {
    const desk = new Desk();
    const pair = desk.fixture.market(2, 10);
    desk.trade(random, [pair, pair + 1], 900);
    const owner = desk.account(1);
    const expected = desk.scan(owner, ANY);
    const trades = new OwnTrades(desk.index, 10);
    const all: OwnTrade[] = [];
    for (let more = true; more; ) {
      const page = await trades.page(owner, ANY, all.length);
      assert(page.rows.length > 0 && page.rows.length <= 10);
      all.push(...page.rows);
      more = page.more;
    }
    assert.deepEqual(all, expected);
  });
});

test('the trades of an order are those that took and made for it, within the searched window', async () => {
  await withSeedAsync(async (random) => {
    const desk = new Desk(4_000);
    const pair = desk.fixture.market(2, 10);
    desk.trade(random, [pair, pair + 1], 900);
    const ids = (n: number): string[] => {
      const id = orderIdWords(n);
      const matches = new Set<number>();
      for (let fill = 0; fill < desk.index.end; fill++) {
        for (const column of [Fill.takerId, Fill.makerId]) {
          if (id.every((word, w) => desk.i32(fill, column + w) === word)) {
            matches.add(desk.f64(fill, Fill.match));
          }
        }
      }
      return [...matches].map(tradeIdOf);
    };
    for (const signer of [1, 3, 5, 6]) {
      const owner = desk.account(signer);
      const rows = [];
      for (let n = 1; n <= desk.placed; n++) {
        const hex = wordsToHex(orderIdWords(n), 0, 8);
        const row = await desk.orders.find(owner, Buffer.from(hex.slice(2), 'hex'));
        if (row !== undefined) rows.push({ n, row });
      }
      assert(rows.length > 50);
      const found = await new OwnTrades(desk.index).tradesOf(
        owner,
        rows.map(({ row }) => row),
        desk.index.end,
      );
      rows.forEach(({ n }, i) => {
        assert.deepEqual(found[i], ids(n), `order ${n}`);
      });
      const { row } = rows.find(({ row: { remaining, original } }) => remaining < original)!;
      const near = await new OwnTrades(desk.index, 2_000, 1).tradesOf(owner, [row], desk.index.end);
      assert(near[0]!.length <= 2);
    }
  });
});

test('a trade shows the view of its taker, and no API key of others', () => {
  const desk = new Desk();
  const info = {
    question: '',
    slug: '',
    icon: '',
    eventSlug: '',
    outcomes: ['Yes', 'No'],
  };
  const yes = desk.fixture.market(2, 100, false, info);
  const share = 1_000_000;
  desk.fixture.order({ token: yes, wallet: 1, sell: true, ticks: 60, shares: 4 * share });
  desk.fixture.order({ token: yes + 1, wallet: 2, signer: 1, ticks: 38, shares: 3 * share });
  desk.fixture.order({ token: yes, wallet: 5, ticks: 62, shares: 10 * share });
  desk.flush();
  const lookup = (market: number) => desk.fixture.infos[market];
  const texts = new AccountTexts(desk.fixture.t, lookup);
  const trades = new TradeTexts(texts, desk.index);
  const read = (trade: OwnTrade, wallet: number, reader = trades) =>
    JSON.parse(reader.text(trade, { owner: desk.account(wallet), apiKey: KEY }).text);

  const taken = read({ match: 0, isTaker: true, made: 0 }, 5);
  const wallet = (n: number): string => texts.wallet(desk.account(n) as AccountRow);
  const id = (n: number): string => wordsToHex(orderIdWords(n), 0, 8);
  const { asset_id: no } = texts.token((yes + 1) as TokenRow);
  assert.deepEqual(taken, {
    id: '00000000-0000-4000-8000-000000000000',
    taker_order_id: id(3),
    ...texts.token(yes),
    side: 'BUY',
    size: '7',
    fee_rate_bps: '100',
    price: '0.608571',
    status: 'CONFIRMED',
    match_time: String(desk.fixture.time / 1_000),
    last_update: String(desk.fixture.time / 1_000),
    bucket_index: 0,
    owner: KEY,
    maker_address: wallet(5),
    transaction_hash: '0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563',
    trader_side: 'TAKER',
    type: 'TAKER',
    maker_orders: [
      {
        order_id: id(1),
        owner: NIL_UUID,
        maker_address: wallet(1),
        matched_amount: '4',
        price: '0.6',
        fee_rate_bps: '0',
        asset_id: texts.token(yes).asset_id,
        outcome: 'Yes',
        side: 'SELL',
      },
      {
        order_id: id(2),
        owner: NIL_UUID,
        maker_address: wallet(2),
        matched_amount: '3',
        price: '0.38',
        fee_rate_bps: '0',
        asset_id: no,
        outcome: 'No',
        side: 'BUY',
      },
    ],
  });
  const made = read({ match: 0, isTaker: false, made: 2 }, 1);
  assert.deepEqual([made.owner, made.trader_side, made.type], [NIL_UUID, 'MAKER', 'MAKER']);
  const owners = made.maker_orders.map(({ owner }: { owner: string }) => owner);
  assert.deepEqual(owners, [KEY, KEY]);
  const few = read({ match: 0, isTaker: true, made: 0 }, 5, new TradeTexts(texts, desk.index, 1));
  assert.equal(few.maker_orders.length, 1, 'others beyond the most are left out');
});

test('trades that leave the window while a page is written are not in it', async () => {
  const desk = new Desk(256);
  const { fixture } = desk;
  const yes = fixture.market(2, 100);
  const shares = 1_000_000;
  const meet = (makers: number): void => {
    for (let n = 0; n < makers; n++) {
      fixture.order({ token: yes, wallet: 1, sell: true, ticks: 50, shares });
    }
    fixture.order({ token: yes, wallet: 5, ticks: 50, shares: makers * shares });
    desk.flush();
  };
  for (let match = 0; match < 3; match++) meet(60);
  const lookup = (market: number) => fixture.infos[market];
  const reads = new AccountReads({
    tables: fixture.t,
    texts: fixture.texts,
    infos: lookup,
    tradesIndex: desk.index,
    ...{
      sequenceLock: new SequenceLockReader(undefined, setImmediate),
      storedClosedOrder: () => undefined,
    },
    config: { orderStatus: 'lower' },
    access: NO_ACCESS,
  });
  const { 'GET /data/trades': handler } = handlersOf(ACCOUNT_ROUTES, reads);
  // The two newest are written by then.
  setImmediate(() => meet(140));
  const body = await new Promise<string>((resolve) => {
    const exchange = { reply: (_: number, text: string): void => resolve(text) };
    const address = Buffer.from(wordsToHex(walletWords(5), 0, 5).slice(2), 'hex');
    void handler(exchange as unknown as RequestContext, {}, {
      address,
      apiKey: KEY,
    } as unknown as KeyOwner);
  });
  const { data, next_cursor } = JSON.parse(body) as {
    data: { id: string; size: string }[];
    next_cursor: string;
  };
  assert(desk.index.first > 0 && desk.index.first < 120);
  assert.deepEqual(
    data.map(({ id, size }) => [id, size]),
    [120, 60].map((match) => [tradeIdOf(match), '60']),
  );
  assert.equal(next_cursor, LAST_CURSOR);
});

test('a page of orders is written with pauses, and shows the orders that were open when it was read', async () => {
  const desk = new Desk(4_000);
  const yes = desk.fixture.market(2, 100);
  const [orders, fills, share] = [120, 1_600, 1_000_000];
  for (let n = 1; n <= orders; n++) {
    const ticks = n < orders ? 1 : 50;
    desk.fixture.order({ token: yes, wallet: 5, ticks, shares: 2_000 * share });
  }
  const sell = (count: number): void => {
    for (let fill = 0; fill < count; fill++) {
      const type = OrderType.FAK;
      desk.fixture.order({ token: yes, wallet: 6, sell: true, type, ticks: 50, shares: share });
    }
    desk.flush();
  };
  sell(fills);
  const reads = new AccountReads({
    tables: desk.fixture.t,
    texts: desk.fixture.texts,
    infos: () => undefined,
    tradesIndex: desk.index,
    sequenceLock: new SequenceLockReader(undefined, setImmediate),
    storedClosedOrder: () => undefined,
    config: { orderStatus: 'lower' },
    access: NO_ACCESS,
  });
  const handlers = handlersOf(ACCOUNT_ROUTES, reads);
  const caller: KeyOwner = {
    ok: true,
    apiKey: KEY,
    apiKeyBytes: Buffer.alloc(16),
    address: Buffer.from(wordsToHex(walletWords(5), 0, 5).slice(2), 'hex'),
  };
  let text = '';
  const reply = (status: number, body: string): void => {
    assert.equal(status, 200);
    text = body;
  };
  const list = () =>
    handlers['GET /data/orders']({ reply } as unknown as RequestContext, {}, caller);
  await list();
  const before = text;
  const { count, data } = JSON.parse(before) as { count: number; data: OrderJson[] };
  assert.deepEqual([count, data[0]!.associate_trades.length], [100, fills]);
  setImmediate(() => {
    sell(20);
    for (let n = 1; n <= orders; n++) desk.fixture.cancel(n, 5);
  });
  const { turns } = await turnsOf(Promise.resolve(list()));
  assert(turns >= Math.floor(fills / 1_000) + count / 25 - 1, `${turns} turns`);
  assert.equal(text, before);
  await list();
  assert.deepEqual(JSON.parse(text).data, []);
});

test('a trade id is a UUID that contains its match', () => {
  for (const match of [0, 1, 0xabc, 2 ** 47 + 5]) {
    assert.match(
      tradeIdOf(match),
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.equal(matchOfTradeId(tradeIdOf(match).toUpperCase()), match);
  }
  for (const text of ['', 'x', KEY, `${tradeIdOf(1)}0`]) assert.equal(matchOfTradeId(text), -1);
});
