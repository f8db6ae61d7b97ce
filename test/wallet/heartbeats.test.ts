/** Cancel on a missed heartbeat, with a clock and a store of the test, and then on a whole node. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Heartbeats, type WatchStore } from '../../server/orders/cancel/heartbeats.ts';
import {
  type Reply,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { SHORT } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { Trader } from '../common/traders.ts';

const ALICE = new Uint8Array(20).fill(0xaa);
const BOB = new Uint8Array(20).fill(0xbb);
/** Milliseconds, short because the timer is real; the clock that decides is the test's. */
const PERIOD = 5;

class Stage {
  stored: Uint8Array[];
  readonly cancelled: Uint8Array[] = [];
  /** Results of the next cancels; true when it is empty. */
  outcomes: (boolean | Promise<boolean>)[] = [];
  now = 0;
  fails = false;
  /** Resolves when control records become durable. */
  held: Promise<void> | undefined;
  readonly log: string[] = [];
  readonly heartbeats: Heartbeats;

  constructor(stored: Uint8Array[] = [], watchedMax = 100) {
    this.stored = stored;
    const store: WatchStore = {
      read: () => this.stored,
      put: async (address) => {
        await this.held;
        if (this.fails) throw new Error('disk full');
        this.stored.push(address);
      },
      remove: async (address) => {
        this.stored = this.stored.filter((one) => one !== address);
      },
    };
    this.heartbeats = new Heartbeats({
      store,
      periodMs: PERIOD,
      cancelAll: async (address) => {
        this.cancelled.push(address);
        return this.outcomes.shift() ?? true;
      },
      log: (line) => this.log.push(line),
      now: () => this.now,
      watchedMax,
    });
  }

  async taken(address: Uint8Array, id?: string): Promise<string> {
    const answer = await this.heartbeats.beat(address, id);
    assert(answer.kind === 'taken', JSON.stringify(answer));
    return answer.id;
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    for (let i = 0; i < 4; i++) await new Promise((resolve) => setTimeout(resolve, PERIOD + 1));
  }
}

test('a client without a heartbeat loses its orders once, and one that continues or never began does not', async () => {
  const stage = new Stage();
  await stage.taken(ALICE);
  await stage.taken(BOB);
  assert.equal(stage.stored.length, 2);
  await stage.pass(PERIOD - 1);
  assert.deepEqual(stage.cancelled, []);
  await stage.taken(BOB);
  await stage.pass(1);
  assert.deepEqual(stage.cancelled, [ALICE]);
  assert.deepEqual(stage.stored, [BOB]);
  assert.match(stage.log[0]!, /^0x(aa){20} fell silent/);
  await stage.pass(PERIOD - 2);
  assert.deepEqual(stage.cancelled, [ALICE]);
  await stage.pass(1);
  assert.deepEqual(stage.cancelled, [ALICE, BOB]);
  await stage.pass(10 * PERIOD);
  assert.equal(stage.cancelled.length, 2, 'the watch has ended');
  await stage.taken(ALICE);
  await stage.pass(PERIOD);
  assert.equal(stage.cancelled.length, 3, 'and begins anew');
});

test('an id has to be that of the last answer, and a stale one counts as no heartbeat', async () => {
  const stage = new Stage();
  const first = await stage.taken(ALICE, '');
  const second = await stage.taken(ALICE, first);
  assert.notEqual(second, first);
  assert.deepEqual(await stage.heartbeats.beat(ALICE, first), { kind: 'stale', id: second });
  assert.deepEqual(await stage.heartbeats.beat(BOB, first), { kind: 'stale', id: '' });
  assert.equal(await stage.taken(ALICE), second, 'a heartbeat without an id leaves it');
  await stage.pass(PERIOD - 1);
  assert.equal((await stage.heartbeats.beat(ALICE, first)).kind, 'stale');
  await stage.pass(1);
  assert.deepEqual(stage.cancelled, [ALICE]);
});

test('a restart watches the same addresses, each for a whole period from then on', async () => {
  const stage = new Stage([ALICE]);
  await stage.pass(PERIOD - 1);
  assert.deepEqual(stage.cancelled, []);
  await stage.pass(1);
  assert.deepEqual(stage.cancelled, [ALICE]);
  assert.deepEqual(stage.stored, []);
});

test('a stopped node cancels nothing and stays armed for the next start', async () => {
  const stage = new Stage();
  await stage.taken(ALICE);
  stage.heartbeats.stop();
  await stage.pass(10 * PERIOD);
  assert.deepEqual([stage.cancelled, stage.stored.length], [[], 1]);
});

test('a heartbeat that arrives during the cancel continues the watch', async () => {
  const stage = new Stage();
  await stage.taken(ALICE);
  let fail = (_: boolean): void => undefined;
  stage.outcomes = [new Promise((resolve) => (fail = resolve))];
  await stage.pass(PERIOD);
  assert.equal(stage.cancelled.length, 1);
  assert.deepEqual(stage.stored, [ALICE]);
  await stage.taken(ALICE);
  // It would be tried again in a second.
  fail(false);
  await stage.pass(0);
  assert.deepEqual([stage.cancelled.length, stage.stored], [1, [ALICE]]);
  stage.now += PERIOD;
  await until(() => stage.cancelled.length === 2 && stage.stored.length === 0);
});

test('a failed cancel is tried again', async () => {
  const stage = new Stage();
  await stage.taken(ALICE);
  stage.outcomes = [false];
  await stage.pass(PERIOD);
  await until(() => stage.cancelled.length === 2 && stage.stored.length === 0);
});

test('an address is watched only when its row is on disk and there is room', async () => {
  const stage = new Stage([], 1);
  stage.fails = true;
  const together = ['', undefined].map((id) => stage.heartbeats.beat(ALICE, id));
  for (const answer of together) await assert.rejects(answer, /disk full/);
  await stage.pass(PERIOD);
  assert.deepEqual(stage.cancelled, []);
  stage.fails = false;
  await stage.taken(BOB);
  assert.deepEqual(await stage.heartbeats.beat(ALICE, ''), { kind: 'full' });
  await stage.taken(BOB);
});

test('the first period begins with the answer, for any delay of its control record', async () => {
  const stage = new Stage();
  let makeDurable = (): void => undefined;
  stage.held = new Promise((resolve) => (makeDurable = resolve));
  const first = stage.taken(ALICE);
  await stage.pass(3 * PERIOD);
  assert.deepEqual(stage.cancelled, []);
  makeDurable();
  await first;
  await stage.pass(PERIOD - 1);
  assert.deepEqual(stage.cancelled, []);
  await stage.pass(1);
  assert.deepEqual(stage.cancelled, [ALICE]);
});

test('a missed heartbeat cancels all orders of an address on a node, and a restart does not count', {
  skip: SHORT,
}, async () => {
  const dataDir = temporaryDirectory();
  const [market] = await withMarkets(dataDir, [{ id: 1 }]);
  assert(market);
  let node = await TestNode.start(dataDir, { HEARTBEAT_SECONDS: '30' });
  const alice = await Trader.join(node, 'alice');
  const bob = await Trader.join(node, 'bob');
  const sendHeartbeat = (id: string | null): Promise<Reply> =>
    alice.ask(node, 'POST', '/v1/heartbeats', JSON.stringify({ heartbeat_id: id }));
  const open = async (trader: Trader): Promise<number> => {
    const { json } = await trader.ask(node, 'GET', '/data/orders');
    return (json as { count: number }).count;
  };
  const terms = { market, side: 'BUY', shares: 5 } as const;
  await alice.place(node, { ...terms, ticks: 10 });
  const last = await alice.place(node, { ...terms, ticks: 11 });
  await bob.place(node, { ...terms, ticks: 12 });

  const first = (await sendHeartbeat(null)).json as { heartbeat_id: string };
  const { json: second } = await sendHeartbeat(first.heartbeat_id);
  const stale = await sendHeartbeat(first.heartbeat_id);
  assert.deepEqual(
    [stale.status, { ...(second as object), ...plainRefusal(stale.json) }],
    [400, { ...(second as object), error: 'invalid heartbeat_id', code: 'INVALID_HEARTBEAT' }],
  );
  assert.equal((await alice.ask(node, 'POST', '/v1/heartbeats', '{"heartbeat_id":1}')).status, 400);
  assert.deepEqual((await alice.ask(node, 'POST', '/heartbeats')).json, { status: 'ok' });

  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, { HEARTBEAT_SECONDS: '10' });
  assert.equal(await open(alice), 2, 'nothing is lost by the time that it was down');
  await until(async () => (await open(alice)) === 0);
  assert.equal(await open(bob), 1, 'who has sent none is not watched');
  const { json } = await alice.ask(node, 'GET', `/data/order/${last.orderID}`);
  assert.deepEqual(
    [(json as { status: string }).status, (json as { reason: string }).reason],
    ['canceled', 'canceled'],
  );
  await alice.place(node, { ...terms, ticks: 10 });
  const again = await sendHeartbeat('');
  assert.equal(again.status, 200, 'a new watch');
});
