import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { NoAnswerError, NodeClient, Wallet } from '../../client/client.ts';
import { NotSentError } from '../../client/errors.ts';
import type { Reply } from '../../client/http.ts';
import { type Repeats, untilAnswered } from '../../client/retry.ts';
import { errorBodyOf } from '../../server/common/error-bodies.ts';
import { REFUSALS } from '../../server/common/refusals.ts';
import { TestNode, temporaryDirectory, until, withMarkets } from '../common/node-harness.ts';
import { freshSeed, Random } from '../common/random.ts';
import { all } from './all-rows.ts';
import { type Fault, FaultyProxy } from './proxy.ts';

const dataDir = temporaryDirectory();
const [market, quiet] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
const [tokenId = ''] = market!.tokenIds;
const [quietToken = ''] = quiet!.tokenIds;
const node = await TestNode.start(dataDir);
const strangeDir = temporaryDirectory();
await withMarkets(strangeDir, [{ id: 1 }]);
const stranger = await TestNode.start(strangeDir);
const nodeUrl = `http://127.0.0.1:${node.port}`;
const proxies: FaultyProxy[] = [];
after(() => {
  for (const proxy of proxies) proxy.stop();
});

/** Addresses of one node, each of which may fail. */
async function addresses(count: number, target = node): Promise<FaultyProxy[]> {
  const started = Array.from({ length: count }, () => FaultyProxy.start(target));
  proxies.push(...(await Promise.all(started)));
  return proxies.slice(-count);
}

const walletOf = (name: string): Wallet => Wallet.fromSeed(`failover test/${name}`);
const urlsOf = (of: readonly FaultyProxy[]): string[] => of.map(({ url }) => url);
const sentTo = ({ forwarded }: FaultyProxy, path: string): number =>
  forwarded.filter((text) => text.endsWith(path)).length;

const FAULTS: readonly Fault[] = ['lose', 'cut', 'unavailable', 'throttle', 'busy'];
const ROUNDS = 12;

test('each order is placed once and each cancel is reported when any node fails', async () => {
  const seed = freshSeed();
  const random = new Random(seed);
  const three = await addresses(3);
  const client = await NodeClient.connect(urlsOf(three), { wallet: walletOf('unlucky') });
  const terms = { tokenId, side: 'BUY', price: '0.4', size: '10' } as const;
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const order = await client.orders.sign(terms);
      for (const proxy of three) {
        while (random.chance(50)) proxy.faults.push(random.pick(FAULTS));
      }
      // From then on one address is never reached.
      if (round === ROUNDS / 2) three[1]!.stop();
      const placed = await client.orders.send(order);
      assert.deepEqual([placed.id, placed.status, placed.isFinal], [order.id, 'live', true]);
      for (const proxy of three) proxy.faults.splice(0);
    }
    const open = await all(client.orders.open());
    assert.equal(open.length, ROUNDS);
    three[0]!.faults.push('lose');
    three[2]!.faults.push('lose');
    const { canceled } = await client.orders.cancelMany(open.map(({ id }) => id));
    assert.deepEqual([...canceled].sort(), open.map(({ id }) => id).sort());
  } catch (error) {
    console.error(`replay with: SEED=${seed}`);
    throw error;
  }
  client.close();
});

test('a request that must not run twice goes to the next node only when no node was reached', async () => {
  const [down, good] = await addresses(2);
  const both = urlsOf([down!, good!]);
  const client = await NodeClient.connect(both, { wallet: walletOf('maker') });
  const path = '/auth/readonly-api-key';
  down!.stop();
  assert.equal((await client.keys.list()).length, 1);
  good!.faults.push('lose');
  await assert.rejects(client.keys.createReadOnly(), (error) => {
    return error instanceof NoAnswerError && error.mayBeDone;
  });
  assert.equal(sentTo(good!, path), 1);
  // The failure moved it to the other address, where nothing listens.
  await client.keys.createReadOnly();
  assert.equal(sentTo(good!, path), 2);
  assert.equal((await client.keys.listReadOnly()).length, 2);
  good!.stop();
  const hasty = NodeClient.connect(both, { patienceMs: 200 });
  await assert.rejects(hasty, (error) => {
    assert(error instanceof NoAnswerError && !error.mayBeDone);
    return error.message === 'GET /exchange-info was not answered: no node was reached';
  });
  client.close();
});

test('a node of another venue gets no order, also when it is found late', async () => {
  const [good, other] = await addresses(2);
  const target = { port: 1 };
  const [late] = await addresses(1, target as TestNode);
  const strangeUrl = `http://127.0.0.1:${stranger.port}`;
  const bases = [good!.url, strangeUrl];
  await assert.rejects(NodeClient.connect(bases), (error) => {
    assert(error instanceof Error);
    return error.message === `${strangeUrl} belongs to another venue than ${good!.url}`;
  });
  const options = { wallet: walletOf('careful'), patienceMs: 1_000, timeoutMs: 500 };
  const client = await NodeClient.connect([good!.url, late!.url, other!.url], options);
  target.port = stranger.port;
  good!.stop();
  const placed = await client.orders.post({ tokenId, side: 'BUY', price: '0.1', size: '5' });
  assert.equal(placed.status, 'live');
  assert(sentTo(other!, '/order') > 0);
  other!.stop();
  await assert.rejects(client.orders.cancelAll(), NoAnswerError);
  assert.deepEqual([...new Set(late!.forwarded)], ['GET /exchange-info']);
  client.close();
});

test('a node that another venue has replaced meanwhile gets no order', async () => {
  const target = { port: node.port };
  const [first] = await addresses(1, target as TestNode);
  const [second] = await addresses(1);
  const options = { wallet: walletOf('wary'), patienceMs: 3_000, timeoutMs: 1_500 };
  const client = await NodeClient.connect(urlsOf([first!, second!]), options);
  const order = { tokenId, side: 'BUY', price: '0.1', size: '5' } as const;
  assert.equal((await client.orders.post(order)).status, 'live');
  first!.faults.push('cut');
  target.port = stranger.port;
  const before = first!.forwarded.length;
  assert.equal((await client.orders.post(order)).status, 'live');
  second!.stop();
  await assert.rejects(client.orders.cancelAll(), NoAnswerError);
  assert.deepEqual([...new Set(first!.forwarded.slice(before))], ['GET /exchange-info']);
  client.close();
});

test('streams continue at the next node, with every message once', async () => {
  const [first, second] = await addresses(2);
  const both = urlsOf([first!, second!]);
  const client = await NodeClient.connect(both, { wallet: walletOf('follower') });
  const mover = await NodeClient.connect(nodeUrl, { wallet: walletOf('follower') });
  const events: string[] = [];
  let [missed, synced] = [0, 0];
  const own = await client.followUser({
    order: ({ id, type }) => events.push(`${type} ${id}`),
    missed: () => {
      missed += 1;
    },
  });
  const books = await client.followMarket([quietToken], {
    synced: () => {
      synced += 1;
    },
  });
  const expected: string[] = [];
  const place = async (price: string): Promise<void> => {
    const terms = { tokenId: quietToken, side: 'BUY', price, size: '10' } as const;
    expected.push(`PLACEMENT ${(await mover.orders.post(terms)).id}`);
  };
  await place('0.2');
  await until(() => events.length === 1);
  first!.stop();
  await place('0.21');
  await place('0.22');
  await until(
    () => events.length === 3 && synced === 2 && books.book(quietToken)?.bestBid === '0.22',
  );
  assert.deepEqual([events, missed, synced], [expected, 0, 2]);
  // Reads of the same client are at the second node as well.
  assert.equal((await all(client.orders.open())).length, 3);
  await mover.orders.cancelAll();
  own.close();
  books.close();
  client.close();
  mover.close();
});

/** Results of untilAnswered after one answer: the number of tries, the next node, and the outcome. */
async function after503(
  repeats: Repeats,
  first: Reply | Error,
): Promise<{ readonly tries: number; readonly moves: number; readonly outcome: string }> {
  const good = { status: 200, body: '{}', retryAfterSeconds: 0 };
  let [moves, tries] = [0, 0];
  const nodes = {
    count: 2,
    at: 0,
    moveOn: () => {
      moves += 1;
    },
  };
  const send = async (): Promise<Reply> => {
    tries += 1;
    if (tries > 1) return good;
    if (first instanceof Error) throw first;
    return first;
  };
  const outcome = await untilAnswered('POST /order', repeats, 5_000, send, nodes).then(
    ({ lost, reply }) => `${reply.status} ${lost}`,
    (error: Error) => (error instanceof NoAnswerError ? `none ${error.mayBeDone}` : error.name),
  );
  return { tries, moves, outcome };
}

test('a failed request is repeated, here or at the next node, only as its failure allows', async () => {
  const refusal = (status: number, text: string): Reply => ({
    status,
    body: errorBodyOf(text),
    retryAfterSeconds: 0,
  });
  for (const [name, first, always, undone] of [
    ['busy', refusal(503, REFUSALS.ENGINE_BUSY.texts[0]), [2, 0, '200 0'], [2, 0, '200 0']],
    [
      'throttled',
      refusal(429, REFUSALS.TOO_MANY_REQUESTS.texts[0]),
      [2, 0, '200 0'],
      [2, 0, '200 0'],
    ],
    ['throttled by a proxy', refusal(429, 'slow down'), [2, 0, '200 0'], [2, 0, '200 0']],
    [
      'restarting',
      refusal(425, REFUSALS.VENUE_RESTARTING.texts[0]),
      [2, 0, '200 0'],
      [2, 0, '200 0'],
    ],
    ['restarting, by a proxy', refusal(425, 'too early'), [2, 0, '200 0'], [2, 0, '200 0']],
    ['no leader', refusal(503, REFUSALS.NOT_LEADING.texts[0]), [2, 1, '200 0'], [2, 1, '200 0']],
    ['stopping', refusal(503, REFUSALS.SHUTTING_DOWN.texts[0]), [2, 1, '200 0'], [2, 1, '200 0']],
    ['behind', refusal(503, REFUSALS.NOT_APPLIED_YET.texts[0]), [2, 1, '200 0'], [2, 1, '200 0']],
    ['not sent', new NotSentError('refused'), [2, 1, '200 0'], [2, 1, '200 0']],
    [
      'unknown',
      refusal(503, REFUSALS.OUTCOME_UNKNOWN.texts[0]),
      [2, 1, '200 1'],
      [1, 1, 'none true'],
    ],
    [
      'disk',
      refusal(503, REFUSALS.JOURNAL_UNAVAILABLE.texts[0]),
      [2, 1, '200 1'],
      [1, 1, 'none true'],
    ],
    ['a proxy', refusal(502, 'bad gateway'), [2, 1, '200 1'], [1, 1, 'none true']],
    ['reset', new Error('ECONNRESET'), [2, 1, '200 1'], [1, 1, 'none true']],
    ['paused', refusal(503, REFUSALS.TRADING_PAUSED.texts[0]), [1, 0, '503 0'], [1, 0, '503 0']],
  ] as const) {
    for (const [repeats, [tries, moves, outcome]] of [
      ['always', always],
      ['undone', undone],
    ] as const) {
      assert.deepEqual(
        await after503(repeats, first),
        { tries, moves, outcome },
        `${name} ${repeats}`,
      );
    }
  }
});
