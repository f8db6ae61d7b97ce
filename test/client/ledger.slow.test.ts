import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import {
  ApiError,
  fromMicro,
  LiquidityError,
  NoAnswerError,
  NodeClient,
  toMicro,
  UnknownTokenError,
  Wallet,
} from '../../client/client.ts';
import { sweepOf } from '../../client/market-order.ts';
import type { BookAnswer } from '../../client/types.ts';
import { fileArgs } from '../common/forms.ts';
import { TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { rounds, withSeed } from '../common/random.ts';
import { all } from './all-rows.ts';
import { FaultyProxy } from './proxy.ts';

const FAUCET = '1000';
const dataDir = temporaryDirectory();
const [market, deep, quiet, last] = await withMarkets(
  dataDir,
  [1, 2, 3, 4].map((id) => ({ id })),
);
const SETTINGS = { LEDGER: 'on', FAUCET };
let node = await TestNode.start(dataDir, SETTINGS);
const proxy = await FaultyProxy.start(node);
const [yes = '', no = ''] = market!.tokenIds;
const [deepYes = ''] = deep!.tokenIds;
const [quietYes = ''] = quiet!.tokenIds;
const { conditionId } = market!;

const nodeUrl = `http://127.0.0.1:${node.port}`;

const connect = (name: string, url = nodeUrl): Promise<NodeClient> =>
  NodeClient.connect(url, { wallet: Wallet.fromSeed(`ledger test/${name}`), connections: 1 });

test('cash becomes complete sets and cash again, reserved money is not free, and the statement has every entry', async () => {
  const client = await connect('owner');
  assert.deepEqual(await client.balance(), { total: FAUCET, reserved: '0', free: FAUCET });
  const split = await client.ledger.split(conditionId, '100.5');
  assert.deepEqual([split.conditionId, split.amount, split.cash], [conditionId, '100.5', '899.5']);
  await client.orders.post({ tokenId: yes, side: 'SELL', price: '0.9', size: '40' });
  await client.orders.post({ tokenId: no, side: 'BUY', price: '0.05', size: '10' });
  assert.deepEqual(await client.balance(yes), { total: '100.5', reserved: '40', free: '60.5' });
  assert.deepEqual(await client.ledger.balances(), {
    cash: { total: '899.5', reserved: '0.5', free: '899' },
    positions: (await client.ledger.balances()).positions,
  });
  const held = new Map(
    (await client.ledger.balances()).positions.map((each) => [each.tokenId, each]),
  );
  assert.deepEqual([held.get(yes)?.free, held.get(no)?.free], ['60.5', '100.5']);
  assert.equal((await client.ledger.merge(conditionId, '0.5')).cash, '900');
  await assert.rejects(client.ledger.merge(conditionId, '61'), { code: 'NOT_ENOUGH_BALANCE' });
  await assert.rejects(client.ledger.split(`0x${'1'.repeat(64)}`, '1'), {
    code: 'MARKET_NOT_REGISTERED',
  });
  for (const amount of ['0', '-1', '1e3', '0.0000001']) {
    await assert.rejects(client.ledger.split(conditionId, amount), RangeError);
  }
  await until(async () => (await all(client.ledger.statement())).length === 5);
  // Pages of two.
  const entries = await all(client.ledger.statement({ limit: 2 }));
  assert.deepEqual(
    entries.map(({ cash, cash_after, cause, shares }) => [cause, cash, shares, cash_after]),
    [
      ['MERGE', '0', '-0.5', '900'],
      ['MERGE', '0.5', '-0.5', '900'],
      ['SPLIT', '0', '100.5', '899.5'],
      ['SPLIT', '-100.5', '100.5', '899.5'],
      ['DEPOSIT', FAUCET, '0', FAUCET],
    ],
  );
  assert.deepEqual(await client.balance(deepYes), { total: '0', reserved: '0', free: '0' });
  await assert.rejects(client.balance('1'), (error) => {
    assert(error instanceof UnknownTokenError && error instanceof ApiError);
    assert.deepEqual([error.tokenId, error.status, error.name], ['1', 404, 'UnknownTokenError']);
    return true;
  });
});

test('a split whose answer was lost is made once, and a caller who gave up repeats it by its id', async () => {
  const client = await connect('unlucky', proxy.url);
  proxy.faults.push('lose', 'unavailable');
  assert.equal((await client.ledger.split(conditionId, '10')).cash, '990');
  const hasty = await NodeClient.connect(proxy.url, {
    wallet: Wallet.fromSeed('ledger test/unlucky'),
    connections: 1,
    patienceMs: 200,
  });
  const id = await client.ledger.newId();
  proxy.faults.push('lose', 'lose', 'lose', 'lose', 'lose', 'lose', 'lose', 'lose');
  await assert.rejects(hasty.ledger.merge(conditionId, '4', id), NoAnswerError);
  proxy.faults.splice(0);
  assert.deepEqual(
    [(await client.ledger.merge(conditionId, '4', id)).cash, (await client.balance()).total],
    ['994', '994'],
  );
  await assert.rejects(client.ledger.merge(conditionId, '5', id), { code: 'ID_CONFLICT' });
});

test('a market order buys for an amount at most, and sells a number of shares', async () => {
  const seller = await connect('seller');
  const buyer = await connect('buyer');
  await seller.ledger.split(deep!.conditionId, '500');
  const terms = { tokenId: deepYes, side: 'SELL' } as const;
  for (const [price, size] of [
    ['0.5', '20'],
    ['0.52', '50'],
    ['0.6', '100'],
  ] as const) {
    assert.equal((await seller.orders.post({ ...terms, price, size })).status, 'live');
  }
  // 38.46 shares at 0.52 cost at most 20; twenty of them are there at 0.5.
  const bought = await buyer.orders.market({ tokenId: deepYes, side: 'BUY', amount: '20' });
  assert.deepEqual([bought.status, bought.takingAmount], ['matched', '38.46']);
  assert.equal(toMicro(bought.makingAmount), 19_599_200n);
  // Within 0.52 only 31.54 shares are left.
  const bounded = { tokenId: deepYes, side: 'BUY', amount: '30', price: '0.55' } as const;
  await assert.rejects(buyer.orders.market({ ...bounded, type: 'FOK' }), (error) => {
    assert(error instanceof LiquidityError);
    assert.deepEqual([error.tokenId, error.available], [deepYes, '31.54']);
    assert.equal(error.message, 'market: the book has 31.54 shares within 0.55');
    return true;
  });
  const part = await buyer.orders.market(bounded);
  assert.deepEqual([part.status, part.takingAmount], ['matched', '31.54']);
  await assert.rejects(buyer.orders.market(bounded), LiquidityError);
  const signed = await buyer.orders.signMarket({ ...bounded, price: '0.6' });
  const [once, twice] = [await buyer.orders.send(signed), await buyer.orders.send(signed)];
  assert.deepEqual([once.takingAmount, twice.known?.size_matched], ['50', '50']);

  await seller.orders.post({ tokenId: deepYes, side: 'BUY', price: '0.4', size: '25' });
  const sale = { tokenId: deepYes, side: 'SELL', amount: '30' } as const;
  await assert.rejects(buyer.orders.market({ ...sale, type: 'FOK' }), LiquidityError);
  await assert.rejects(buyer.orders.market({ ...sale, price: '0.41' }), LiquidityError);
  const sold = await buyer.orders.market(sale);
  assert.deepEqual([sold.makingAmount, sold.takingAmount], ['25', '10']);
  await assert.rejects(
    buyer.orders.market({ ...sale, amount: '0' }),
    /^RangeError: market: amount/,
  );
  await assert.rejects(buyer.orders.market({ ...sale, tokenId: '5' }), UnknownTokenError);
});

test('the example of sets makes, sells and merges them, with the wallet of its file in every run', async () => {
  const file = join(dataDir, 'example.key');
  const seller = await connect('bidder');
  const run = async (): Promise<string[]> => {
    const env = { ...process.env, NODE_URL: nodeUrl, WALLET_FILE: file };
    const args = [...fileArgs('examples/run'), 'sets', quietYes];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return stdout.trim().split('\n').slice(1);
  };
  assert.deepEqual(await run(), [
    'made 20 sets, 980 in cash is left',
    'sold nothing: market: the book has 0 shares',
    'merged 20 sets, 1000 in cash is left',
    'MERGE No: 0 in cash, -20 shares; 1000 in cash after it',
    'MERGE Yes: 20 in cash, -20 shares; 1000 in cash after it',
    'SPLIT No: 0 in cash, 20 shares; 980 in cash after it',
    'SPLIT Yes: -20 in cash, 20 shares; 980 in cash after it',
    'DEPOSIT : 1000 in cash, 0 shares; 1000 in cash after it',
  ]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await seller.orders.post({ tokenId: quietYes, side: 'BUY', price: '0.25', size: '50' });
  assert.deepEqual((await run()).slice(0, 3), [
    'made 20 sets, 980 in cash is left',
    'sold 10 shares for 2.5',
    'merged 10 sets, 992.5 in cash is left',
  ]);
});

test('a market order needs no more than its amount, and gets all matching shares of the book', () =>
  withSeed((random) => {
    const MICRO = 1_000_000n;
    for (let round = 0; round < rounds(2_000); round++) {
      const ticks = new Set(Array.from({ length: random.below(6) }, () => 1 + random.below(99)));
      const levels = [...ticks].map((tick) => ({
        price: fromMicro(BigInt(tick) * 10_000n),
        size: fromMicro(BigInt(1 + random.below(5_000)) * 10_000n),
      }));
      const best = (a: { price: string }, b: { price: string }) =>
        Number(a.price) - Number(b.price);
      const book = {
        asset_id: '7',
        asks: levels.toSorted(best).toReversed(),
        bids: levels.toSorted(best),
      };
      const side = random.pick(['BUY', 'SELL'] as const);
      const type = random.pick(['FAK', 'FOK'] as const);
      const bound = random.chance(50)
        ? fromMicro(BigInt(1 + random.below(99)) * 10_000n)
        : undefined;
      const amount = fromMicro(BigInt(1 + random.below(10_000)) * 10_000n);
      const terms = { tokenId: '7', side, amount, type, ...(bound && { price: bound }) };
      const isWithin = ({ price }: { price: string }) =>
        bound === undefined ||
        (side === 'BUY' ? toMicro(price) <= toMicro(bound) : toMicro(price) >= toMicro(bound));
      const within = levels.filter(isWithin);
      const worth = within.reduce(
        (sum, { price, size }) =>
          sum + (side === 'BUY' ? (toMicro(price) * toMicro(size)) / MICRO : toMicro(size)),
        0n,
      );
      let sweep: ReturnType<typeof sweepOf>;
      try {
        sweep = sweepOf(book as unknown as BookAnswer, terms);
      } catch (error) {
        if (error instanceof RangeError) continue;
        assert(error instanceof LiquidityError);
        assert(within.length === 0 || (type === 'FOK' && worth < toMicro(amount)), error.message);
        continue;
      }
      const [price, size] = [toMicro(sweep.price), toMicro(sweep.size)];
      if (side === 'SELL') assert.equal(sweep.size, amount);
      else
        assert(
          price * size <= toMicro(amount) * MICRO &&
            price * (size + 10_000n) > toMicro(amount) * MICRO,
        );
      assert(isWithin(sweep));
      // Whatever lies within the price is enough, or all that there is.
      const reached = within.filter((level) =>
        side === 'BUY' ? toMicro(level.price) <= price : toMicro(level.price) >= price,
      );
      const shares = reached.reduce((sum, level) => sum + toMicro(level.size), 0n);
      assert(
        shares >= size || reached.length === within.length,
        JSON.stringify([sweep, book, terms]),
      );
      if (type === 'FOK') assert(shares >= size);
    }
  }));

test('the user stream reports each balance once, over a gap and over a restart of the node', async () => {
  const target = { port: node.port };
  const cut = await FaultyProxy.start(target);
  const wallet = Wallet.fromSeed('client test/balances');
  const client = await NodeClient.connect(cut.url, { wallet, connections: 1 });
  const reserved: string[] = [];
  let [missed, reconciled] = [0, 0];
  const orders: string[] = [];
  const stream = await client.followUser({
    order: ({ type }) => orders.push(type),
    balance: (event) => reserved.push(`${event.asset_type} ${event.reserved} of ${event.total}`),
    missedBalances: () => {
      missed += 1;
    },
    reconciled: () => {
      reconciled += 1;
    },
  });
  const [tokenId = ''] = last!.tokenIds;
  const place = () => client.orders.post({ tokenId, side: 'BUY', price: '0.3', size: '20' });
  const expected = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `COLLATERAL ${6 * (i + 1)} of 1000`);
  await place();
  await until(() => reserved.length === 1);
  let dropped = 0;
  cut.drops = (text) => text.includes('"balance"') && dropped++ === 0;
  await place();
  await place();
  await until(() => reserved.length === 3 && orders.length === 3);
  assert.deepEqual([reserved, missed, orders.length], [expected(3), 0, 3]);

  await node.stop();
  node = await TestNode.start(dataDir, SETTINGS);
  target.port = node.port;
  cut.cutStreams();
  await place();
  await until(() => reserved.length === 4 && orders.length === 4);
  assert.deepEqual([reserved, missed, reconciled, orders.length], [expected(4), 0, 0, 4]);
  stream.close();
  cut.stop();
});
