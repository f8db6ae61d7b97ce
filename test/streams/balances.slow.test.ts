/**
 * Balance messages: on random commands they lead to the balances of the tables. Over real sockets
 * only clients that ask for them get them, in a stream of their own that resumes like every other.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  cashReserved,
  cashTotal,
  positionsOf,
  positionToken,
  sharesReserved,
  sharesTotal,
} from '../../engine/ledger/reads.ts';
import { findAccount } from '../../engine/orders/accounts.ts';
import { wordsToHex } from '../../server/common/uint256.ts';
import { BalanceFeed } from '../../server/streams/balance-feed.ts';
import { Names } from '../../server/streams/names.ts';
import { endOf } from '../../server/streams/numbering.ts';
import { BALANCES, ReplayBuffer } from '../../server/streams/replay-buffer.ts';
import { rounds, withSeed } from '../common/random.ts';
import type { SocketClient } from '../common/socket-client.ts';
import { Trader } from '../common/traders.ts';
import { addressWords } from '../engine/engine-driver.ts';
import { LedgerDuel } from '../engine/ledger-duel.ts';
import { LedgerStream } from '../engine/ledger-stream.ts';
import { assertFits, followUser, type Json, ofType, startNode } from './stream-node.ts';

const TIME = 1_700_000_000_000;

test('the messages of all batches lead to the balances of the tables', () => {
  withSeed((random) => {
    const duel = new LedgerDuel();
    const { t } = duel.driver;
    const { events } = duel.driver.engine.context;
    const stream = new LedgerStream(random);
    const sent: Json[] = [];
    const users = new ReplayBuffer({
      now: () => TIME,
      venue: 'test',
      batch: 0,
      eventsMax: 100,
      missedBy: () => ({ from: 0, events: [] }),
      publish: (_, text) => void sent.push(JSON.parse(Buffer.from(text).toString()) as Json),
    });
    const names = new Names(t, () => undefined);
    const feed = new BalanceFeed(names, users);
    const [asks, silent] = [users.enter(addressWords(2)), users.enter(addressWords(3))];
    for (const user of [asks, silent]) {
      for (const id of [user.all.id, user.ofMarket(BALANCES).id]) user.countJoined(id, 1);
    }
    users.followBalances(asks);
    const own = wordsToHex(addressWords(2), 0, 5);
    const known = new Map<string, readonly string[]>();
    let batches = 0;
    let sequence = 0;
    const flush = (): void => {
      sequence += 1;
      const i32 = events.i32.slice(0, events.words);
      feed.flushed({ events: i32, eventsF: new Float64Array(i32.buffer), sequence, time: TIME });
      users.reached(sequence);
      const batch = sent.splice(0);
      if (batch.length > 0) batches += 1;
      const rows = new Set<string>();
      for (const event of batch) {
        assertFits(event);
        assert.equal(event.stream_id, stream_id);
        const row = `${String(event.wallet).toLowerCase()}/${event.token_id}`;
        assert(!rows.has(row), 'one event for each row');
        rows.add(row);
        known.set(row, [String(event.total), String(event.reserved), String(event.free)]);
      }
      compare();
    };
    const stream_id = asks.ofMarket(BALANCES).id;
    const compare = (): void => {
      const account = findAccount(t, addressWords(2), 0);
      const expect = (of: string, total: number, reserved: number): void => {
        const told = known.get(`${own}/${of}`) ?? ['0', '0', '0'];
        assert.deepEqual(told, [total, reserved, total - reserved].map(String), of);
      };
      expect('', cashTotal(t, account), cashReserved(t, account));
      for (const row of positionsOf(t, account)) {
        const { id } = names.token(positionToken(t, row));
        expect(id, sharesTotal(t, row), sharesReserved(t, row));
      }
    };
    for (let i = 0; i < rounds(12_000); i++) {
      const command = stream.next();
      if (command.kind === 'at' || i % 20 === 0) {
        flush();
        duel.settle();
      }
      duel.step(command);
    }
    flush();
    assert(batches > 50, `${batches} batches touched the wallet`);
    assert.deepEqual(
      [asks, silent].map(({ all }) => all.sequence),
      [endOf(0), endOf(0)],
      'no order, no trade',
    );
    assert.deepEqual(
      users.since(silent, BALANCES, endOf(0)),
      [],
      'nothing is stored for who did not ask',
    );
  });
});

const node = await startNode([{ id: 1 }], { LEDGER: 'on', FAUCET: '1000' });
const [market] = node.markets;
assert(market);
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const custom = { custom_feature_enabled: true };
const brief = (events: readonly Json[]): unknown[] =>
  events.map((event) =>
    event.event_type === 'balance'
      ? [event.asset_type, event.token_id, event.total, event.reserved, event.free]
      : [event.event_type, event.type],
  );

async function next(client: SocketClient, count: number): Promise<Json[]> {
  const found: Json[] = [];
  while (found.length < count) found.push(...(await client.upToNow()));
  assert.equal(found.length, count, JSON.stringify(found));
  for (const event of found) assertFits(event);
  return found;
}

test('a client that asks gets each balance after the other messages of its batch', async () => {
  const client = await followUser(node, alice, custom);
  const other = await followUser(node, alice);
  await alice.place(node, { market, side: 'BUY', ticks: 50, shares: 100 });
  assert.deepEqual(brief(await next(client, 2)), [
    ['order', 'PLACEMENT'],
    ['COLLATERAL', '', '1000000000', '50000000', '950000000'],
  ]);
  const id = `${Date.now()}-split`;
  const body = JSON.stringify({ conditionId: market.conditionId, amount: '10000000', id });
  assert.equal((await bob.ask(node, 'POST', '/split', body)).status, 200);
  await bob.place(node, { market, side: 'SELL', ticks: 50, shares: 10 });
  const events = await next(client, 5);
  assert.deepEqual(brief(events), [
    ['trade', 'TRADE'],
    ['trade', 'TRADE'],
    ['order', 'UPDATE'],
    ['COLLATERAL', '', '995000000', '45000000', '950000000'],
    ['CONDITIONAL', market.tokenIds[0], '10000000', '0', '10000000'],
  ]);
  const [cash, shares] = ofType(events, 'balance');
  assert.deepEqual([cash!.market, shares!.market], ['', market.conditionId]);
  assert.equal(cash!.wallet, alice.address);
  assert.equal(shares!.previous, cash!.sequence, 'a stream of its own');
  const orders = await next(other, 4);
  assert.deepEqual(ofType(orders, 'balance'), [], 'nobody who did not ask is sent one');
  assert.deepEqual(
    orders.slice(1).map(({ previous }) => previous),
    orders.slice(0, -1).map(({ sequence }) => sequence),
  );
  for (const each of [client, other]) each.cut();
});

test('missed balances are sent again after the stream cursor of a client', async () => {
  const client = await followUser(node, bob, custom);
  await bob.place(node, { market, side: 'BUY', ticks: 20, shares: 10 });
  const [, balance] = await next(client, 2);
  client.cut();
  await bob.cancel(node, '/cancel-all');
  const resume = [{ stream_id: balance!.stream_id, sequence: balance!.sequence }];
  const again = await followUser(node, bob, { ...custom, markets: [market.conditionId], resume });
  const events = await next(again, 3);
  const [missed] = ofType(events, 'balance');
  assert.deepEqual(brief([missed!]), [['COLLATERAL', '', '995000000', '0', '995000000']]);
  assert.equal(missed!.previous, balance!.sequence);
  again.cut();
});

test('no client gets a balance without a ledger', async () => {
  const plain = await startNode([{ id: 1 }]);
  const carol = await Trader.join(plain, 'carol');
  const client = await followUser(plain, carol, { ...custom, resume: [] });
  assert.equal((await next(client, 1))[0]!.event_type, 'resumed');
  await carol.place(plain, { market: plain.markets[0]!, side: 'BUY', ticks: 50, shares: 100 });
  assert.deepEqual(brief(await next(client, 1)), [['order', 'PLACEMENT']]);
  client.cut();
  await plain.stop();
});
