import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Calls } from '../../client/calls.ts';
import {
  ApiError,
  fromMicro,
  NoAnswerError,
  NodeClient,
  toMicro,
  Wallet,
} from '../../client/client.ts';
import { signingDomainOf } from '../../client/exchange.ts';
import { rowsOnce } from '../../client/lists.ts';
import { Orders } from '../../client/orders.ts';
import { untilAnswered } from '../../client/retry.ts';
import { until } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { all } from './all-rows.ts';
import type { Fault } from './proxy.ts';
import { join, joinProxy, markets, nodeUrl, plain, proxy, quiet, risky } from './stage.ts';

const maker = await join('maker');
const taker = await join('taker');

const refused = (status: number, reason?: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.status === status && (reason?.test(error.reason) ?? true);

test('orders of both versions rest, match and report their payments', async () => {
  const second = await join('maker of version 2', { orderVersion: 2 });
  for (const [client, tokenId] of [
    [maker, plain],
    [second, risky],
  ] as const) {
    const resting = await client.orders.post({ tokenId, side: 'SELL', price: '0.52', size: '20' });
    assert.deepEqual([resting.status, resting.reason], ['live', '']);
    const taking = { tokenId, side: 'BUY', price: '0.53', size: '12.5', type: 'FOK' } as const;
    const taken = await taker.orders.post(taking);
    assert.deepEqual(taken, {
      id: taken.id,
      status: 'matched',
      reason: '',
      code: undefined,
      known: undefined,
      detail: '',
      makingAmount: '6.5',
      takingAmount: '12.5',
      isFinal: true,
    });
    const order = await client.orders.get(resting.id);
    assert.equal(order?.size_matched, '12.5');
    await client.orders.cancelAll();
  }
});

test('a refusal is a result with the reason, and an unsignable order throws before anything is sent', async () => {
  const terms = { tokenId: plain, side: 'BUY', price: '0.5', size: '1' } as const;
  const small = await maker.orders.post(terms);
  assert.equal(small.status, 'refused');
  assert.match(small.reason, /Size lower than the minimum/);
  assert.equal(small.code, 'SIZE_BELOW_MINIMUM');
  await assert.rejects(maker.orders.post({ ...terms, price: '0.001', size: '0.0001' }), RangeError);
  await assert.rejects(maker.orders.post({ ...terms, size: '1e3' }), RangeError);
  await assert.rejects(maker.orders.post({ ...terms, tokenId: '1' }), {
    code: /^UNKNOWN_(?:BOOK|MARKET)$/,
  });
  for (const price of ['1.2', '1', '0']) {
    await assert.rejects(maker.orders.post({ ...terms, tokenId: '1', price }), (error) => {
      assert(error instanceof RangeError);
      assert.equal(error.message, `post: price must be between 0 and 1, not ${price}`);
      return true;
    });
  }
  assert.equal(await maker.orders.get(`0x${'0'.repeat(64)}`), undefined);
});

test('an error names the call that was made', async () => {
  const terms = { tokenId: '1', side: 'BUY', price: '0.5', size: '10' } as const;
  const id = `0x${'1'.repeat(64)}`;
  // All are awaited at once: each may be refused before the others.
  const calls = {
    post: maker.orders.post(terms),
    postAll: maker.orders.postAll([terms]),
    replace: maker.replace(id, terms),
    sign: maker.orders.sign(terms),
    market: maker.orders.market({ tokenId: '1', side: 'BUY', amount: '5' }),
  };
  const refusals = Object.entries(calls).map(([call, error]) =>
    assert.rejects(error, {
      name: 'UnknownTokenError',
      tokenId: '1',
      status: 404,
      // Of the two requests for the terms, either may be refused first.
      call: new RegExp(`^${call} [(]GET /(?:book|fee-rate)[)]$`),
      message: /^[a-zA-Z]+ [(]GET [^ ]+[)] answered 404: /,
    }),
  );
  await Promise.all(refusals);
});

test('a replace exchanges an order for another one or changes nothing, also when answers are lost', async () => {
  const client = await joinProxy('replacer');
  const terms = { tokenId: risky, side: 'SELL', price: '0.9', size: '30' } as const;
  const first = await client.orders.post(terms);
  await taker.orders.post({ ...terms, side: 'BUY', size: '10', type: 'FOK' });
  proxy.faults.push('cut', 'lose');
  const replaced = await client.replace(first.id, { ...terms, price: '0.91' });
  assert.deepEqual([replaced.canceled, replaced.filled], [true, '10']);
  assert.equal(replaced.placed?.known?.price, '0.91');
  assert.deepEqual(
    (await all(client.orders.open())).map(({ id }) => id),
    [replaced.placed.id],
  );
  assert.deepEqual(await client.replace(first.id, terms), {
    canceled: false,
    filled: undefined,
    placed: undefined,
  });
  assert.deepEqual((await client.orders.cancelAll()).canceled, [replaced.placed.id]);
  client.close();
});

test('a caller reads its positions, their value, its balance and its last trade', async () => {
  const holder = await join('holder');
  const terms = { tokenId: plain, side: 'SELL', price: '0.4', size: '20' } as const;
  await maker.orders.post(terms);
  await holder.orders.post({ ...terms, side: 'BUY', type: 'FOK' });
  assert.deepEqual(await holder.lastTrade(plain), { price: '0.4', side: 'BUY' });
  // Positions come from what is projected, behind the books.
  await until(async () => (await all(holder.positions())).length > 0);
  const held = await all(holder.positions({ limit: 1 }));
  assert.deepEqual(
    held.map(({ asset, size }) => [asset, size]),
    [[`${markets[0]?.conditionId}:0`, '20']],
  );
  assert.equal(await holder.value(), '8');
  const { address } = Wallet.fromSeed('client test/holder');
  assert.equal(await maker.value({ user: address }), '8');
  // Without a ledger it is the largest amount of an order.
  const most = fromMicro(2n ** 53n - 1n);
  for (const token of [undefined, plain]) {
    assert.deepEqual(await holder.balance(token), { total: most, reserved: '0', free: most });
  }
  await assert.rejects(holder.ledger.balances(), { code: 'LEDGER_OFF', status: 409 });
  await maker.orders.cancelAll();
});

test('each order is placed once through any loss of answers', async () => {
  const seed = freshSeed();
  const random = new Random(seed);
  try {
    await sendThroughFaults(random);
  } catch (error) {
    console.error(`replay with: SEED=${seed}`);
    throw error;
  }
});

/** Faults after which the node has the orders. */
const OBEYED: readonly Fault[] = ['lose', 'unavailable', 'hang'];
const FAULTS: readonly Fault[] = ['lose', 'cut', 'unavailable', 'throttle', 'restart', 'busy'];
const ROUNDS = 12;

/** Sends two orders of ten shares a round; in half of the rounds somebody sells to them. */
async function sendThroughFaults(random: Random): Promise<void> {
  const client = await joinProxy('unlucky');
  // Nobody else gives up an answer: on a slow machine some take as long.
  const hasty = await joinProxy('unlucky', { timeoutMs: 1_000 });
  const rival = await join('rival');
  const terms = { tokenId: quiet, side: 'BUY', price: '0.4', size: '10' } as const;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (random.chance(50)) await rival.orders.post({ ...terms, side: 'SELL', price: '0.3' });
    const orders = await Promise.all([client.orders.sign(terms), client.orders.sign(terms)]);
    const faults: Fault[] = round === 0 ? ['hang'] : [];
    while (faults.length < 3 && random.chance(60)) faults.push(random.pick(FAULTS));
    proxy.faults.push(...faults);
    const placed = await (round === 0 ? hasty : client).orders.sendAll(orders);
    assert.deepEqual(proxy.faults, []);
    for (const [i, { id, known, reason, status }] of placed.entries()) {
      assert.deepEqual([id, reason], [orders[i]!.id, '']);
      assert(status === 'live' || status === 'matched');
      assert.equal(
        known !== undefined,
        faults.some((fault) => OBEYED.includes(fault)),
      );
    }
  }
  const trades = await all(client.orders.trades());
  const traded = trades.reduce((sum, { size }) => sum + toMicro(size), 0n);
  let resting = 0n;
  for (const order of await all(client.orders.open())) {
    resting += toMicro(order.original_size) - toMicro(order.size_matched);
  }
  assert.equal(traded + resting, BigInt(2 * ROUNDS) * toMicro('10'));
  await client.orders.cancelAll();
  hasty.close();
}

test('orders and cancels that meet a restart are sent again after the pause that it names', async () => {
  const pause = { body: '{"error":"the matching engine is restarting"}', retryAfterSeconds: 0.2 };
  const done = { status: 200, body: '{}', retryAfterSeconds: 0 };
  const replies = [{ status: 425, ...pause }, done];
  const begun = performance.now();
  const send = async () => replies.shift()!;
  const answered = await untilAnswered('POST /order', 'undone', 5_000, send);
  assert.deepEqual(answered, { reply: done, lost: 0 });
  assert(performance.now() - begun >= 190);

  const client = await joinProxy('patient');
  proxy.faults.push('restart');
  const terms = { tokenId: quiet, side: 'BUY', price: '0.1', size: '10' } as const;
  const { id, known, status } = await client.orders.post(terms);
  assert.deepEqual([status, known], ['live', undefined]);
  proxy.faults.push('restart');
  assert.deepEqual((await client.orders.cancel(id)).canceled, [id]);
  assert.deepEqual(proxy.faults, []);
  client.close();
});

test('a refusal after a lost answer says that the order may still come', async () => {
  const client = await joinProxy('hopeful');
  const terms = { tokenId: risky, side: 'BUY', price: '0.9', size: '10', type: 'FOK' } as const;
  const order = await client.orders.sign(terms);
  proxy.faults.push('lose');
  const { code, isFinal, status } = await client.orders.send(order);
  assert.deepEqual([status, code, isFinal], ['refused', 'FOK_NOT_FILLED', false]);
  assert.equal((await client.orders.post(terms)).isFinal, true);
  client.close();
});

test('a cancel whose answer was lost reports its effect', async () => {
  const client = await joinProxy('canceller');
  const terms = { tokenId: risky, side: 'SELL', price: '0.9', size: '30' } as const;
  const [first, second] = await client.orders.postAll([terms, terms]);
  assert(first && second);
  await taker.orders.post({ ...terms, side: 'BUY', size: '10', type: 'FOK' });
  proxy.faults.push('lose', 'unavailable');
  const ids = [first.id, second.id, `0x${'1'.repeat(64)}`];
  const answer = await client.orders.cancelMany(ids);
  assert.deepEqual([...answer.canceled].sort(), ids.slice(0, 2).sort());
  assert.deepEqual(answer.filled, { [first.id]: '10', [second.id]: '0' });
  assert.deepEqual(Object.keys(answer.not_canceled), ids.slice(2));
  client.close();
});

test('the retry limit gives an unknown outcome, and the same bytes sent again give the result', async () => {
  const client = await joinProxy('impatient', { patienceMs: 300 });
  const order = await client.orders.sign({
    tokenId: risky,
    side: 'SELL',
    price: '0.95',
    size: '5',
  });
  proxy.faults.push('lose', 'lose', 'lose', 'lose', 'lose', 'lose', 'lose', 'lose');
  await assert.rejects(client.orders.send(order), NoAnswerError);
  proxy.faults.splice(0);
  const known = await client.orders.send(order);
  assert.deepEqual([known.status, known.known?.original_size], ['live', '5']);
  client.close();
});

test('a refusal after a lost answer is not reported as refused', async () => {
  const wallet = Wallet.fromSeed('client test/doubtful');
  const key = await (await NodeClient.connect(nodeUrl, { wallet })).keys.create(wallet, '1');
  const client = await NodeClient.connect(proxy.url, { wallet, key, patienceMs: 1_000 });
  const terms = { tokenId: risky, side: 'SELL', price: '0.96', size: '5' } as const;
  const throttled = await client.orders.sign(terms);
  proxy.faults.push('lose', ...Array<Fault>(20).fill('throttle'));
  await assert.rejects(client.orders.send(throttled), NoAnswerError);
  proxy.faults.splice(0);
  const revoked = await client.orders.sign(terms);
  const patient = await NodeClient.connect(proxy.url, { wallet, key, patienceMs: 60_000 });
  proxy.faults.push('lose', ...Array<Fault>(20).fill('throttle'));
  const sending = assert.rejects(patient.orders.send(revoked), (error) => {
    return error instanceof NoAnswerError && refused(401)(error.cause);
  });
  const other = await NodeClient.connect(nodeUrl, { wallet });
  await until(() => proxy.faults.length < 20);
  await other.keys.revoke(key.apiKey);
  proxy.faults.splice(0);
  await sending;
  for (const { id } of [throttled, revoked])
    assert.equal((await other.orders.get(id))?.status, 'live');
  client.close();
  patient.close();
});

test('a placed order is not reported as refused when it cannot be looked up', async () => {
  const order = { id: `0x${'1'.repeat(64)}`, item: '{}' };
  const had = { success: false, errorMsg: 'Duplicated', orderID: order.id, status: 'live' };
  const calls = {
    callText: async () => ({ answer: { ...had, makingAmount: '', takingAmount: '' }, lost: 1 }),
    call: async () => {
      throw new ApiError('GET /data/order/:id', 429, '{"error":"Too Many Requests"}');
    },
  };
  const orders = new Orders(calls as unknown as Calls, undefined, signingDomainOf(maker.info));
  await assert.rejects(orders.send(order), NoAnswerError);
});

test('a market that is called "engine busy" is an answer like any other', async () => {
  const reply = { body: '[{"question":"Is the engine busy?"}]', retryAfterSeconds: 0 };
  for (const status of [200, 404]) {
    const send = async () => ({ status, ...reply });
    const answered = await untilAnswered('GET /markets', 'undone', 0, send);
    assert.deepEqual(answered, { reply: { status, ...reply }, lost: 0 });
  }
});

test('a revoked key is refused at once; its wallet may ask for another one', async () => {
  const wallet = Wallet.fromSeed('client test/revoked');
  const client = await NodeClient.connect(nodeUrl, { wallet });
  const other = await client.keys.create(wallet, '1');
  assert.deepEqual(await client.keys.derive(wallet, '1'), other);
  const [mine = ''] = (await client.keys.list()).filter((id) => id !== other.apiKey);
  await client.keys.revoke();
  await assert.rejects(client.keys.list(), refused(401));
  await assert.rejects(client.orders.cancelAll(), refused(401));
  await assert.rejects(client.keys.derive(wallet), refused(404));
  const again = await NodeClient.connect(nodeUrl, { wallet, key: other });
  assert.deepEqual(await again.keys.list(), [other.apiKey]);
  assert.notEqual(mine, other.apiKey);
});

test('a read-only key reads own orders, places none, and is sent once when it is made', async () => {
  const owner = await joinProxy('owner');
  const placed = await owner.orders.post({ tokenId: risky, side: 'BUY', price: '0.05', size: '7' });
  proxy.faults.push('lose');
  await assert.rejects(owner.keys.createReadOnly(), NoAnswerError);
  assert.equal((await owner.keys.listReadOnly()).length, 1);
  const key = await owner.keys.createReadOnly();
  const address = Wallet.fromSeed('client test/owner').address;
  const reader = await NodeClient.connect(nodeUrl, { readOnly: { address, key } });
  assert.deepEqual(
    (await all(reader.orders.open())).map(({ id }) => id),
    [placed.id],
  );
  await assert.rejects(reader.orders.cancelAll(), refused(403, /read-only key/));
  await assert.rejects(
    reader.orders.post({ tokenId: risky, side: 'BUY', price: '0.1', size: '5' }),
    /wallet/,
  );
  await owner.keys.revokeReadOnly(key);
  await assert.rejects(all(reader.orders.open()), refused(401));
});

test('a wrong clock is set by the time of the node, also one that goes wrong later', async () => {
  let offMs = 3_600_000;
  const client = await join('late', { clock: () => Date.now() + offMs });
  assert.equal((await client.keys.list()).length, 1);
  offMs = -86_400_000;
  assert.equal((await client.keys.list()).length, 1);
  const order = { tokenId: risky, side: 'BUY', price: '0.01', size: '5' } as const;
  offMs = 0;
  assert.equal((await client.orders.post(order)).status, 'live');
});

test('lists are complete across pages, and path parameters and typed queries reach every route', async () => {
  const lister = await join('lister');
  const terms = { tokenId: quiet, side: 'SELL', price: '0.97', size: '5' } as const;
  const placed = await lister.orders.postAll(Array.from({ length: 103 }, () => terms));
  const open = await all(lister.orders.open({ asset_id: quiet }));
  assert.deepEqual(open.map(({ id }) => id).sort(), placed.map(({ id }) => id).sort());
  const listed = await all(lister.catalog.markets({ limit: 1, closed: false }));
  assert.deepEqual(
    listed.map(({ conditionId }) => conditionId).sort(),
    markets.map(({ conditionId }) => conditionId).sort(),
  );
  assert.equal((await all(lister.catalog.events({ limit: 2 }))).length, markets.length);
  assert.equal((await lister.catalog.market('2')).id, '2');
  assert.equal((await lister.catalog.search('question')).pagination.totalResults, markets.length);
  assert.equal((await lister.call('GET /time', {})) > 0, true);
  assert.equal((await lister.call('GET /markets', { query: { id: [1, 2] } })).length, 2);
  await lister.orders.cancelMarket({ asset_id: quiet });
  assert.deepEqual(await all(lister.orders.open()), []);
  await lister.orders.heartbeat();
});

test('no row is returned twice when rows are added between pages', async () => {
  const list = Array.from({ length: 4_000 }, (_, i) => ({ id: String(i) })).reverse();
  let next = list.length;
  const given = await all(
    rowsOnce({ cursor: '0' }, 'cursor', async ({ cursor }) => {
      const offset = Number(cursor);
      const rows = list.slice(offset, offset + 100);
      for (let come = 0; come < 60; come += 1) list.unshift({ id: String(next++) });
      return { rows, next: rows.length < 100 ? undefined : String(offset + 100) };
    }),
  );
  assert.deepEqual(
    given.map(({ id }) => id),
    Array.from({ length: 4_000 }, (_, i) => String(3_999 - i)),
  );
});

test('market data is read by token, as decimal text', async () => {
  const quoter = await join('quoter');
  const at = (side: 'BUY' | 'SELL', price: string) => ({ tokenId: plain, side, price, size: '50' });
  await quoter.orders.postAll([at('BUY', '0.4'), at('SELL', '0.6')]);
  const { marketData } = quoter;
  assert.equal((await marketData.book(plain)).bids.at(-1)?.price, '0.4');
  assert.equal((await marketData.books([plain, risky])).length, 2);
  assert.equal(await marketData.price(plain, 'BUY'), '0.6');
  assert.deepEqual(await marketData.prices([plain]), { [plain]: { BUY: '0.6', SELL: '0.4' } });
  assert.deepEqual(await marketData.midpoints([plain]), { [plain]: '0.5' });
  assert.deepEqual(await marketData.spreads([plain]), { [plain]: '0.2' });
  assert.equal((await marketData.lastTradePrices([plain]))[0]?.token_id, plain);
  // Another point where a minute has begun in between.
  const { history } = await marketData.history({ market: plain, interval: 'max' });
  assert(history.length >= 1);
  assert.equal(toMicro((await marketData.trades({ limit: 1 }))[0]!.size) > 0n, true);
  await quoter.orders.cancelAll();
});

test('decimals are exact in both directions, and no other text is one', () => {
  const random = new Random(freshSeed());
  for (let i = 0; i < 200; i += 1) {
    const micro = BigInt(random.next()) * BigInt(random.below(1_000_000));
    assert.equal(toMicro(fromMicro(micro)), micro);
  }
  assert.equal(fromMicro(-1_500_000n), '-1.5');
  assert.equal(toMicro(0.1), 100_000n);
  for (const text of ['', '1.', '.5', '1e3', '-1', '0.0000001', ' 1', 'NaN']) {
    assert.throws(() => toMicro(text), RangeError, text);
  }
});

after(() => proxy.stop());
