/**
 * A client that is written from the published sources of the service alone, on a whole node: a wallet of each kind
 * trades in markets of each protocol, and all that the node tells afterwards is what the client has booked itself.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { cli } from '../common/run-cli.ts';
import { verified } from '../common/verified.ts';
import { checkRow, checkTaken, type Json } from './own-answers.ts';
import { decimal, feeOf, type Holding, UNIT } from './own-books.ts';
import { KINDS, type Kind, Signer, walletOf } from './own-signing.ts';
import { cents, Desk, type OwnMarket, OwnVenue, SETTINGS, versionFor } from './own-venue.ts';

const seed = freshSeed();
const random = new Random(seed);
process.once('exit', (code) => {
  if (code !== 0) console.error(`replay with: SEED=${seed} npm test`);
});

/** Far longer than a projection needs. */
const FOLLOWS_MS_MAX = 20_000;
const begun = new Date();
const venue = await OwnVenue.open();
after(() => venue.operator.node.stop());
const { books, clients, data, markets } = venue;
const lower = (wallet: string): string => wallet.toLowerCase();
const scheduled = markets.filter(({ schedule }) => schedule !== undefined);

test('wallets and digests are those of the published vectors', async () => {
  const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
  for (const [kind, wallet] of [
    ['deposit', '0xbc0ff067b7740eff76c1ca93c875ba6b890d6b50'],
    ['safe', '0xd93b25cb943d14d0d34fbaf01fc93a0f8b5f6e47'],
    ['proxy', '0x365f0ca36ae1f641e02fe3b7743673da42a13a70'],
  ] as const) {
    assert.equal(lower(walletOf(kind, owner)), wallet);
  }
  const token = String((1n << 248n) | (0x1234n << 128n));
  const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
  const { item } = await new Signer(key, 'deposit').sign(3, {
    token,
    negRisk: false,
    side: 'BUY',
    makerAmount: 500_000n,
    takerAmount: 1_000_000n,
  });
  const { signature } = item.order as { signature: string };
  assert.equal(signature.length, 636);
  const separator = '466c63910185bbd55e8679264200c4e0abdcbb0c6264eb3d41d13326022e095b';
  assert.equal(signature.slice(132, 196), separator);
  // shares x 0.05 x 0.2496 of the live row.
  const fees = { rate: 50_000n, exponent: 1, rebate: 0n };
  assert.equal(feeOf(fees, 22_840_000n, 520_000n), 285_040n);
});

test('markets are read before signing as clients read them', async () => {
  for (const { condition, negRisk, schedule, tokens, tick } of markets) {
    for (const id of [condition, ...(condition.endsWith('00') ? [condition.slice(0, -2)] : [])]) {
      const terms = await data.found(`/clob-markets/${id}`);
      assert.deepEqual(
        terms.t,
        tokens.map((t, i) => ({ t, o: ['Yes', 'No'][i] })),
      );
      assert.equal(terms.mts, tick / 1e6);
      assert.equal(terms.nr, negRisk);
      const fd = terms.fd as Json | undefined;
      if (schedule === undefined) assert.equal(fd?.r ?? 0, 0);
      else assert.deepEqual(fd, { r: Number(schedule.rate) / 1e6, e: schedule.exponent, to: true });
    }
    for (const token of tokens) {
      const found = await data.found(`/markets-by-token/${token}`);
      assert.equal(found.condition_id, condition);
    }
  }
});

/** One wallet makes and another one takes: a mint, purchases at two prices, a sale, a merge, and cancels. */
async function round(market: OwnMarket, makerKind: Kind, takerKind: Kind): Promise<void> {
  const desk = new Desk(venue, market);
  const maker = () => ({ kind: makerKind, version: versionFor(market, makerKind, random) });
  const taker = () => ({ kind: takerKind, version: versionFor(market, takerKind, random) });
  const onGrid = (least: number, most: number): number =>
    Math.round(random.between(least * 1e6, most * 1e6) / market.tick) * market.tick;
  const fine = (most: bigint): bigint => most - BigInt(random.below(999_983));
  const bid = onGrid(0.3, 0.6);
  const minted = cents(random, 30, 50);
  await desk.rest({ ...maker(), outcome: 0, side: 'BUY', price: bid, size: minted + 5n * UNIT });
  await desk.take({ ...taker(), outcome: 1, side: 'BUY', price: 1e6 - bid, size: minted });
  // The maker sells at two prices, and the taker buys through both, with six decimals.
  const ask = onGrid(0.61, 0.7);
  const [first, second] = [cents(random, 6, 8), cents(random, 6, 8)];
  await desk.rest({ ...maker(), outcome: 0, side: 'SELL', price: ask, size: first });
  const next = ask + market.tick;
  await desk.rest({ ...maker(), outcome: 0, side: 'SELL', price: next, size: second });
  const bought = fine(first + second);
  const limit = next + market.tick;
  const sweep = { outcome: 0, side: 'BUY', price: limit, size: bought, type: 'FAK' } as const;
  await desk.take({ ...taker(), ...sweep });
  // The taker sells some of that to the bid that is left, and to a better one.
  const better = bid + market.tick;
  const wanted = cents(random, 5, 6);
  await desk.rest({ ...maker(), outcome: 0, side: 'BUY', price: better, size: wanted });
  const sale = { outcome: 0, side: 'SELL', price: bid, type: 'FOK' } as const;
  await desk.take({ ...taker(), ...sale, size: wanted + BigInt(random.between(1, 999_999)) });
  // Both sell: a complete set ends.
  const high = onGrid(0.75, 0.9);
  const merged = cents(random, 5, 9);
  const offer = { outcome: 0, side: 'SELL', price: high, postOnly: true } as const;
  await desk.rest({ ...maker(), ...offer, size: merged });
  const low = 1e6 - high - market.tick;
  await desk.take({ ...taker(), outcome: 1, side: 'SELL', price: low, size: merged });
  const client = clients[makerKind];
  const open = desk.resting.map(({ id }) => id).toSorted();
  assert.deepEqual((await client.open()).toSorted(), open);
  await cancelAll(desk, makerKind);
  assert.deepEqual(await client.open(), []);
}

/** Cancels what rests, in one of the ways that the service has. */
async function cancelAll(desk: Desk, kind: Kind): Promise<void> {
  const client = clients[kind];
  const ids = desk.resting.map(({ id }) => id);
  const { condition } = desk.market;
  const way = random.below(4);
  const canceled: string[] = [];
  if (way === 0) {
    for (const orderID of ids) {
      const answer = await client.done('DELETE', '/order', '', JSON.stringify({ orderID }));
      canceled.push(...(answer.canceled as string[]));
    }
  } else {
    const [path, body] = [
      ['/orders', JSON.stringify(ids)],
      ['/cancel-all', ''],
      ['/cancel-market-orders', JSON.stringify({ market: condition })],
    ][way - 1] as [string, string];
    const answer = await client.done('DELETE', path, '', body);
    assert.deepEqual(answer.not_canceled, {});
    canceled.push(...(answer.canceled as string[]));
  }
  assert.deepEqual(canceled.toSorted(), ids.toSorted());
}

for (const market of markets) {
  test(`each kind of wallet makes and takes in market ${market.id}, with versions ${market.versions}`, async () => {
    for (const makerKind of KINDS) {
      for (const takerKind of KINDS) {
        if (makerKind !== takerKind) await round(market, makerKind, takerKind);
      }
    }
  });
}

test('orders beyond what a wallet has are refused with the text that clients look for', async () => {
  for (const market of markets) {
    for (const kind of KINDS) {
      const desk = new Desk(venue, market);
      const version = versionFor(market, kind, random);
      const wish = { kind, version, outcome: 0, side: 'BUY', price: 900_000 } as const;
      const terms = desk.termsOf({ ...wish, size: 8_000n * UNIT });
      assert.match(await clients[kind].refusal(version, terms), /not enough balance \/ allowance/);
    }
  }
});

test('a batch of orders of different versions has an answer for each, and each is found by its id', async () => {
  const [market] = markets;
  const desk = new Desk(venue, market!);
  const client = clients.safe;
  const orders = [];
  for (const version of [1, 2] as const) {
    const wish = { kind: 'safe', version, outcome: 0, side: 'BUY', price: 20_000 } as const;
    orders.push(await client.sign(version, desk.termsOf({ ...wish, size: 7n * UNIT })));
  }
  const body = `[${orders.map((order) => client.bodyOf(order)).join(',')}]`;
  const answers = (await client.done('POST', '/orders', '', body)) as unknown as readonly Json[];
  assert.deepEqual(
    answers.map((answer) => checkTaken(answer).orderID),
    orders.map(({ id }) => id),
  );
  for (const { id } of orders) {
    const found = await client.done('GET', `/data/order/${id}`);
    const { maker_address, original_size, price, size_matched, status } = found;
    assert.deepEqual(
      [lower(String(maker_address)), original_size, price, size_matched, status],
      [lower(client.wallet), '7', '0.02', '0', 'LIVE'],
    );
  }
  const ids = orders.map(({ id }) => id);
  const ended = await client.done('DELETE', '/orders', '', JSON.stringify(ids));
  assert.deepEqual((ended.canceled as string[]).toSorted(), ids.toSorted());
  const { status } = await client.done('GET', `/data/order/${ids[0]}`);
  assert.equal(status, 'CANCELED');
});

test('orders of a wrong version or by a session key are refused, and change nothing', async () => {
  const [old, , position] = markets as [OwnMarket, OwnMarket, OwnMarket];
  const wish = { outcome: 0, side: 'BUY', price: 20_000, size: 5n * UNIT } as const;
  for (const kind of KINDS) {
    const client = clients[kind];
    const of = (market: OwnMarket, version: 1 | 2 | 3) =>
      client.refusal(version, new Desk(venue, market).termsOf({ ...wish, kind, version }));
    assert.match(await of(position, 2), /invalid order signature/, kind);
    assert.match(await of(old, 3), /invalid order signature/, kind);
    if (kind !== 'deposit') assert.match(await of(position, 1), /order_version_mismatch/, kind);
  }
  const client = clients.deposit;
  const terms = new Desk(venue, position).termsOf({ ...wish, kind: 'deposit', version: 3 });
  const { id, item } = await client.sign(3, terms);
  const order = item.order as { readonly signature: string };
  const signature = order.signature + '6492'.repeat(16);
  const body = client.bodyOf({ id, item: { ...item, order: { ...order, signature } } });
  const { json } = await client.ask('POST', '/order', '', body);
  const text = 'invalid order signature: signatures of session keys are not taken';
  assert.deepEqual([json.success, json.errorMsg], [false, text]);
  const explained = await client.done('POST', '/orders/explain', '', body);
  assert.match(JSON.stringify(explained), /session key/);
  for (const kind of KINDS) assert.deepEqual(await clients[kind].open(), []);
});

test('a taking purchase needs its cash and the largest fee up to its limit, to the micro-unit', async () => {
  const [market] = markets as [OwnMarket];
  const [yes, no] = market.tokens;
  // 10 shares at a limit of 0.7, of which the offer takes 0.5: the fee is largest at 0.5.
  const [size, price] = [10n * UNIT, 500_000n];
  const needed = 7n * UNIT + feeOf(market.schedule!, size, price);
  const terms = { token: yes, negRisk: false, side: 'BUY', takerAmount: size } as const;
  const rest = { token: no, negRisk: false, side: 'BUY', takerAmount: size } as const;
  const resting = await clients.plain.sign(2, { ...rest, makerAmount: 5n * UNIT });
  await clients.plain.post(resting);
  const poor = await venue.join('5c', 'proxy', needed - 1n);
  assert.match(await poor.refusal(1, { ...terms, makerAmount: 7n * UNIT }), /not enough balance/);
  const able = await venue.join('6c', 'deposit', needed);
  const answer = await able.post(await able.sign(2, { ...terms, makerAmount: 7n * UNIT }));
  assert.deepEqual([answer.makingAmount, answer.takingAmount], ['5', '10']);
  books.fill({
    market,
    maker: clients.plain.wallet,
    taker: able.wallet,
    makerToken: no,
    makerSide: 'BUY',
    takerToken: yes,
    takerSide: 'BUY',
    size,
    price,
  });
  assert.equal(await able.balance(), books.of(able.wallet).cash);
});

test('a fill of one micro-share pays no fee, and moves what its price rounds to', async () => {
  for (const market of markets) {
    const desk = new Desk(venue, market);
    const version = market.versions.at(-1)!;
    const [maker, taker] = [
      { kind: 'safe', version },
      { kind: 'deposit', version },
    ] as const;
    const mint = { price: 500_000, size: 20n * UNIT, side: 'BUY' } as const;
    await desk.rest({ ...maker, ...mint, outcome: 0 });
    await desk.take({ ...taker, ...mint, outcome: 1 });
    const offer = { outcome: 0, side: 'SELL', price: 600_000, size: 6n * UNIT } as const;
    await desk.rest({ ...maker, ...offer });
    await desk.rest({ ...maker, ...offer, price: 610_000 });
    const buy = { outcome: 0, side: 'BUY', price: 620_000, type: 'FAK' } as const;
    await desk.take({ ...taker, ...buy, size: 6n * UNIT - 1n });
    await desk.take({ ...taker, ...buy, size: 5n * UNIT + 1n });
    await cancelAll(desk, 'safe');
  }
});

async function statementOf(wallet: string): Promise<readonly string[]> {
  const rows: string[] = [];
  for (let before = ''; ; ) {
    const query = `?wallet=${wallet}&limit=500${before}`;
    const page = await venue.operator.done('GET /admin/ledger/statement', undefined, query);
    const entries = page.entries as readonly Json[];
    for (const { cash, cause, shares, token_id } of entries) {
      rows.push([cause, token_id, cash, shares].join(' '));
    }
    if (page.more !== true) return rows.toReversed();
    before = `&before=${entries.at(-1)!.entry}`;
  }
}

const number = (micros: bigint): number => Number(decimal(micros));
const sum = (values: Iterable<bigint>): bigint => [...values].reduce((a, b) => a + b, 0n);

/** Average cost of a share, to the nearest micro-unit. */
const average = ({ cost, shares }: Holding): bigint => (cost * UNIT + shares / 2n) / shares;

async function agrees(): Promise<void> {
  for (const kind of KINDS) {
    const client = clients[kind];
    const { wallet } = client;
    const account = books.of(wallet);
    assert.equal(await client.balance(), account.cash, `cash of ${kind}`);
    for (const [token, { shares }] of account.holdings) {
      assert.equal(await client.balance(token), shares, `shares of ${kind}`);
    }
    const entries = account.entries.map(({ cash, cause, shares, token }) =>
      [cause, token, decimal(cash), decimal(shares)].join(' '),
    );
    assert.deepEqual(await statementOf(wallet), entries, `statement of ${kind}`);
    const query = `positions?user=${wallet}&filter_amount=0&limit=3`;
    const open = await data.all('positions', query);
    const closed = await data.all('positions', `positions?user=${wallet}&status=CLOSED`);
    assert.equal(open.length + closed.length, account.holdings.size);
    const v1 = [
      ...(await data.list(`/data/positions?user=${wallet}&sizeThreshold=0`)),
      ...(await data.list(`/data/closed-positions?user=${wallet}`)),
    ];
    let worth = 0n;
    for (const row of [...open, ...closed]) {
      const token = String(row.token_id);
      const own = account.holdings.get(token)!;
      const label = `${kind} ${token}`;
      assert.deepEqual(
        [
          row.current_size,
          row.entry_cost_usdc,
          row.entry_fees_usdc,
          row.total_cost_usdc,
          row.total_size,
          row.realized_pnl,
        ],
        [own.shares, own.cost, own.fees, own.cost + own.fees, own.bought, own.realized].map(number),
        label,
      );
      assert.equal(row.proxy_wallet, lower(wallet));
      if (own.shares > 0n) {
        const price = books.lastPrices.get(token)!;
        const value = (own.shares * price) / UNIT;
        assert.deepEqual(
          [row.current_price, row.current_value, row.unrealized_pnl, row.total_pnl, row.avg_price],
          [price, value, value - own.cost, own.realized + value - own.cost, average(own)].map(
            number,
          ),
          label,
        );
        worth += value;
      }
      const old = v1.find(({ asset }) => asset === token)!;
      assert.equal(old.realizedPnl, number(own.realized), label);
      if (own.shares > 0n) assert.equal(old.size, number(own.shares), label);
    }
    const value = await data.row('value', `value?user=${wallet}`);
    assert.deepEqual([value.proxy_wallet, value.value], [lower(wallet), number(worth)]);
    const profit = number(books.profit(wallet));
    const volume = await data.row('user-volume', `user-volume?user=${wallet}`);
    const { trades, volume: shares, volumeUsdc } = account;
    const volumes = [number(shares), number(volumeUsdc), trades];
    assert.deepEqual([volume.volume, volume.volume_usdc, volume.trade_count], volumes);
    const stats = await data.row('user-stats', `user-stats?user=${wallet}`);
    const point = checkRow('point', stats.all_time_pnl as Json);
    assert.deepEqual(
      [point.realized_pnl, point.volume, point.volume_usdc],
      [profit, ...volumes.slice(0, 2)],
    );
    const pnl = await data.row('user-pnl', `user-pnl?user=${wallet}&interval=max`);
    const points = pnl.points as readonly Json[];
    for (const each of points) checkRow('point', each);
    assert.equal(points.at(-1)!.realized_pnl, profit);
    const today = begun.toISOString().slice(0, 10);
    const rebates = await data.list(`/rebates/current?date=${today}&maker_address=${wallet}`);
    if (new Date().toISOString().slice(0, 10) === today) {
      const owed = [...account.owed].filter(([, amount]) => amount > 0n);
      assert.deepEqual(
        rebates.map((row) => `${row.condition_id} ${row.rebated_fees_usdc}`).toSorted(),
        owed.map(([condition, amount]) => `${condition} ${decimal(amount)}`).toSorted(),
      );
      for (const row of rebates) {
        assert.deepEqual([row.date, lower(String(row.maker_address))], [today, lower(wallet)]);
      }
    }
  }
  const totals = await venue.operator.done('GET /admin/ledger');
  assert.deepEqual([totals.fees, totals.imbalance], [decimal(books.fees), '0']);
  for (const by of ['PNL', 'VOLUME']) {
    const score = (wallet: string): bigint =>
      by === 'PNL' ? books.profit(wallet) : books.of(wallet).volume;
    const own = venue.wallets
      .filter((wallet) => score(wallet) !== 0n)
      .toSorted((a, b) => (score(a) < score(b) ? 1 : -1));
    for (const period of begun.getUTCDate() === new Date().getUTCDate()
      ? ['day', 'all']
      : ['all']) {
      const rows = await data.all(
        'leaderboard',
        `leaderboard?time_period=${period}&sort_by=${by}&limit=3`,
      );
      assert.deepEqual(
        rows.map(({ pnl, rank, user_id, volume }) => [rank, user_id, pnl, volume]),
        own.map((wallet, i) => [
          i + 1,
          lower(wallet),
          number(books.profit(wallet)),
          number(books.of(wallet).volume),
        ]),
        `${by} of ${period}`,
      );
    }
    const old = await data.list(
      `/data/v1/leaderboard?timePeriod=ALL&orderBy=${by === 'PNL' ? 'PNL' : 'VOL'}`,
    );
    assert.deepEqual(
      old.map(({ pnl, proxyWallet, rank, vol }) => [rank, lower(String(proxyWallet)), pnl, vol]),
      own.map((wallet, i) => [
        String(i + 1),
        lower(wallet),
        number(books.profit(wallet)),
        number(books.of(wallet).volume),
      ]),
    );
    for (const [i, wallet] of own.entries()) {
      const standing = await data.row('standing', `leaderboard?user=${wallet}&time_period=all`);
      assert.equal(standing[by === 'PNL' ? 'rank_pnl' : 'rank_volume'], i + 1);
    }
  }
}

/** Projections follow the log within moments. */
async function comesToAgree(): Promise<void> {
  for (const deadline = performance.now() + FOLLOWS_MS_MAX; ; await sleep(FOLLOWS_MS_MAX / 100)) {
    try {
      return await agrees();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

test(
  'balances, statement, positions, boards and rebates are those of the books of the client',
  comesToAgree,
);

test('the owner of a key reads the same statement, in micro-units', async () => {
  const { wallet } = clients.plain;
  const page = await clients.plain.done('GET', '/ledger/statement', '?limit=1000');
  assert.deepEqual(
    (page.data as readonly Json[]).map(({ cash, shares }) => `${cash} ${shares}`).toReversed(),
    books.of(wallet).entries.map(({ cash, shares }) => `${cash} ${shares}`),
  );
});

test('own trades of every wallet add up to its entries, are final, and have a hash', async () => {
  for (const kind of KINDS) {
    const client = clients[kind];
    const wallet = lower(client.wallet);
    let shares = 0n;
    let fills = 0;
    for (const trade of await client.trades()) {
      assert.equal(trade.status, 'CONFIRMED');
      assert.match(trade.transaction_hash, /^0x[0-9a-f]{64}$/);
      const own = trade.maker_orders.filter((order) => lower(order.maker_address) === wallet);
      const rows = trade.trader_side === 'TAKER' ? trade.maker_orders : own;
      assert(rows.length > 0);
      fills += rows.length;
      for (const { matched_amount } of rows)
        shares += BigInt(Math.round(Number(matched_amount) * 1e6));
    }
    const account = books.of(wallet);
    assert.deepEqual([fills, shares], [account.trades, account.volume], kind);
  }
});

test('every route below /v2 answers in the envelope and with the members that clients know', async () => {
  for (const market of markets) {
    const { condition, eventId, tokens } = market;
    const rows = await data.all(
      'trades',
      `trades?condition=${condition}&taker_only=false&filter_amount=0.000001&limit=50`,
    );
    const own = sum(venue.wallets.flatMap((wallet) => volumesIn(wallet, market)));
    assert.equal(sum(rows.map(({ size }) => BigInt(Math.round(Number(size) * 1e6)))), own);
    const [interest] = (await data.one(`oi?condition=${condition}`)) as readonly Json[];
    checkRow('oi', interest!);
    assert.equal(interest!.value, number(books.sets.get(condition)!));
    const live = await data.row('live-volume', `live-volume?event_id=${eventId}`);
    const volume = number(books.takerVolume.get(condition)!);
    assert.equal(live.taker_volume_total, volume);
    assert.deepEqual(live.conditions, [{ condition_id: condition, taker_volume: volume }]);
    for (const gains of [false, true]) {
      const holders = await data.all(
        'holders',
        `holders?condition=${condition}&include_pnl=${gains}&limit=100`,
      );
      for (const { holders: list, token_id } of holders) {
        const expected = venue.wallets
          .map((wallet) => [
            wallet,
            number(books.of(wallet).holdings.get(String(token_id))?.shares ?? 0n),
          ])
          .filter(([, held]) => held !== 0)
          .toSorted((a, b) => Number(b[1]) - Number(a[1]));
        const shown = list as readonly Json[];
        for (const row of shown) checkRow(gains ? 'holderWithGains' : 'holder', row);
        assert.deepEqual(
          shown.map(({ amount, proxy_wallet }) => [proxy_wallet, amount]),
          expected,
        );
      }
    }
    for (const token of tokens) {
      const prices = await data.all(
        'prices-history',
        `prices-history?tokenId=${token}&interval=1h`,
      );
      assert.equal(prices.at(-1)!.price, number(books.lastPrices.get(token)!));
    }
    const ofAll = await data.all(
      'positions',
      `positions?conditionId=${condition}&filterAmount=0.000001&limit=3`,
    );
    for (const token of tokens) {
      const held = ofAll.filter(({ token_id }) => token_id === token);
      assert.deepEqual(
        held.map(({ current_size, proxy_wallet }) => `${proxy_wallet} ${current_size}`).toSorted(),
        venue.wallets
          .map((wallet) => ({ wallet, shares: books.of(wallet).holdings.get(token)?.shares ?? 0n }))
          .filter(({ shares }) => shares > 0n)
          .map(({ shares, wallet }) => `${wallet} ${number(shares)}`)
          .toSorted(),
      );
    }
    const [resolution] = (await data.one(`resolutions?condition=${condition}`)) as readonly Json[];
    checkRow('resolutions', resolution!);
  }
  const [all] = (await data.one('oi')) as readonly Json[];
  assert.equal(checkRow('oi', all!).condition_id, 'GLOBAL');
  assert.equal(all!.value, number(sum(books.sets.values())));
  for (const wallet of venue.wallets) {
    const approvals = await data.row('approvals', `approvals?user=${wallet}`);
    for (const row of approvals.contracts as readonly Json[]) checkRow('approval', row);
    for (const path of ['activity/combos', 'positions/combos']) {
      await data.all(undefined, `${path}?user=${wallet}`);
    }
  }
  await data.row('status', 'status');
  await data.all(undefined, 'builders/leaderboard?time_period=day');
  assert.deepEqual(await data.one('builders/volume'), []);
  await data.all(undefined, 'biggest-winners?time_period=all');
});

function volumesIn(wallet: string, { tokens }: OwnMarket): bigint[] {
  const { entries } = books.of(wallet);
  return entries
    .filter(({ cause, token }) => cause === 'TRADE' && tokens.includes(token))
    .map(({ shares }) => (shares < 0n ? -shares : shares));
}

test('activity has what moved, with the fee of a taker, as a live row of the service has', async () => {
  for (const wallet of venue.wallets) {
    const rows = await data.all(
      'activity',
      `activity?user=${wallet}&type=TRADE&sort_direction=ASC&limit=40`,
    );
    const moved = rows.map(({ usdc_size }) => BigInt(Math.round(Number(usdc_size) * 1e6)));
    const own = books.of(wallet).entries.filter(({ cause }) => cause === 'TRADE');
    assert.equal(
      decimal(sum(moved)),
      decimal(sum(own.map(({ cash }) => (cash < 0n ? -cash : cash)))),
    );
  }
});

test('wrong queries are refused with the error body of the data API', async () => {
  const [wallet = ''] = venue.wallets;
  for (const [path, parameter] of [
    ['trades?limit=1001', 'limit'],
    ['trades?offset=5', 'offset'],
    ['trades?user=0x12', 'user'],
    ['trades?condition=0x12', 'condition'],
    ['activity', 'user'],
    [`positions?user=${wallet}&status=NONE`, 'status'],
    ['live-volume', 'event_id'],
    ['prices-history', 'token_id'],
  ] as const) {
    assert.equal((await data.refused(path, 400)).parameter, parameter, path);
  }
  await data.refused('nothing', 404);
  const first = await data.found('/v2/trades?limit=2');
  const { next_cursor } = first.pagination as Json;
  const again = await data.found(`/v2/trades?limit=1000&cursor=${next_cursor}`);
  assert.equal((again.pagination as Json).limit, 2, 'a cursor has precedence');
});

test('payouts and a replayed log leave all of it as the client has booked it', async () => {
  const [first, second, third] = markets as [OwnMarket, OwnMarket, OwnMarket];
  for (const [market, payout, pays] of [
    [first, [1, 0], [UNIT, 0n]],
    [second, [0, 1], [0n, UNIT]],
    [third, [1, 1], [UNIT / 2n, UNIT / 2n]],
  ] as const) {
    const { condition } = market;
    await venue.operator.done('POST /admin/markets/resolve', { condition, payout });
    books.redeem(market, pays);
  }
  await until(
    async () => (await clients.deposit.balance()) === books.of(clients.deposit.wallet).cash,
  );
  await until(async () => {
    const rows = (await data.one(
      `resolutions?condition=${first.condition},${third.condition}`,
    )) as readonly Json[];
    return rows.every(({ status }) => status === 'resolved');
  });
  const rows = (await data.one(`resolutions?condition=${third.condition}`)) as readonly Json[];
  assert.deepEqual(checkRow('resolutions', rows[0]!).payouts, [500_000, 500_000]);
  await comesToAgree();
  const { code, stdout } = await cli(venue.dataDir, ['ledger', 'audit', '--json'], {
    settings: SETTINGS,
  });
  const audit = JSON.parse(stdout) as Json;
  assert.deepEqual([code, audit.sound], [0, true]);
  await venue.operator.node.stop();
  await verified(venue.dataDir, SETTINGS);
  assert(scheduled.length > 0 && books.fees > 0n);
});
