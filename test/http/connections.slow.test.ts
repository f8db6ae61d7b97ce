import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestContext } from '../../server/http/http.ts';
import type { ConnectionBounds } from '../../server/http/limits/connection-counts.ts';
import { RateLimiter } from '../../server/http/limits/rate-limiter.ts';
import { effectiveCaps } from '../../server/http/limits/rate-limits.ts';
import type { SocketRoute } from '../../server/http/sockets.ts';
import { type Client, get, route, serve } from '../common/http-client.ts';
import { until } from '../common/node-harness.ts';

const FIRST = '127.0.0.2';
const SECOND = '127.0.0.3';
const DROP_MS = 2_000;
/** Time of the clock of the rate limits. */
const NOW = 1_700_000_000_000;

const ok = (context: RequestContext) => context.reply(200, '"OK"');
const ROUTES = [
  route({ run: ok }),
  route({ method: 'POST', path: '/in', bodyBytesMax: 9e5, run: ok }),
];

async function isTaken(client: Client): Promise<boolean> {
  const answer = client.send(get()).answer();
  return answer.then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function takenOf(clients: readonly Client[]): Promise<number> {
  const taken = await Promise.all(clients.map(isTaken));
  return taken.filter((each) => each).length;
}

async function bounded(t: TestContext, connections: ConnectionBounds) {
  const { client, server } = await serve(t, ROUTES, { connections });
  const clients = (from: string, count: number) =>
    Array.from({ length: count }, () => client(from));
  return { clients, facts: () => server.facts().connections };
}

test('connections beyond the total bound are closed, and accepted again when others have ended', async (t) => {
  const { clients, facts } = await bounded(t, { all: 5, perAddress: undefined });
  const first = clients(FIRST, 5);
  assert.equal(await takenOf(first), 5);
  assert.equal(await takenOf(clients(SECOND, 3)), 0);
  assert.deepEqual(facts(), { open: 5, max: 5, refused: { all: 3, address: 0, rate: 0 } });
  for (const each of first.slice(0, 2)) each.socket.destroy();
  await until(() => facts().open === 3);
  assert.equal(await takenOf(clients(SECOND, 2)), 2);
});

test('an address is bounded by its open connections of the system, while others connect', async (t) => {
  const { clients, facts } = await bounded(t, {
    all: 200,
    perAddress: { open: 10, openedPerSecond: 100 },
  });
  const other = clients(SECOND, 1);
  assert.equal(await takenOf(other), 1);
  // Those that have closed do not count for long: more than the bound, one after the other.
  for (let i = 0; i < 30; i++) {
    const [each] = clients(FIRST, 1);
    assert(await isTaken(each!), `the ${i + 1}. connection`);
    each!.socket.destroy();
    await each!.closed;
    await until(() => facts().open === 1);
  }
  await sleep(1_100);
  const all = clients(FIRST, 12);
  await takenOf(all);
  await sleep(1_100);
  await takenOf(clients(FIRST, 1)); // asks the system
  await until(async () => {
    const [each] = clients(FIRST, 1);
    const taken = await isTaken(each!);
    each!.socket.destroy();
    return !taken;
  });
  assert.equal(await takenOf(clients(SECOND, 5)), 5, 'others are taken');
  assert(facts().refused.address > 0);
  for (const each of all) each.socket.destroy();
  await until(async () => (await takenOf(clients(FIRST, 1))) === 1);
});

test('an address gets at most half as many connections more while the system is queried', async (t) => {
  const { clients } = await bounded(t, {
    all: 200,
    perAddress: { open: 10, openedPerSecond: 1_000 },
  });
  assert.equal(await takenOf(clients(SECOND, 1)), 1);
  const taken = await takenOf(clients(FIRST, 100));
  assert(taken >= 10 && taken <= 15, `${taken} were taken`);
});

test('an address that opens too many connections in a second is refused for the rest of it', async (t) => {
  const { clients, facts } = await bounded(t, {
    all: 200,
    perAddress: { open: 100, openedPerSecond: 20 },
  });
  // All of them come within one second, if not at the first attempt.
  await until(async () => {
    const refused = facts().refused.rate;
    const all = clients(FIRST, 30);
    const taken = await takenOf(all);
    for (const { socket } of all) socket.destroy();
    assert.equal(taken + facts().refused.rate - refused, 30);
    return taken === 20;
  });
  assert.equal(await takenOf(clients(SECOND, 20)), 20);
  await until(async () => (await takenOf(clients(FIRST, 5))) === 5);
});

test('a connection with a byte-by-byte request is cut, and one that is idle between two is not', async (t) => {
  const { client } = await serve(t, ROUTES);
  const slow = [
    client().send('GET / HTTP/1.1\r\nX-Slow: '),
    client().send('POST /in HTTP/1.1\r\nHost: node\r\nContent-Length: 9000\r\n\r\n'),
    client().send('POST /in HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n'),
  ];
  const bytes = ['a', 'a', '1\r\na\r\n'];
  const drops = setInterval(() => {
    for (const [i, { socket }] of slow.entries()) if (socket.writable) socket.write(bytes[i]!);
  }, DROP_MS);
  t.after(() => clearInterval(drops));
  const idle = client();
  assert.equal(await isTaken(idle), true);
  await Promise.all(slow.map(({ closed }) => closed));
  assert.equal(await isTaken(idle), true, 'idle between two requests');
});

test('upgrades count against the rate of the caller, and the number of open ones is bounded', async (t) => {
  const limiter = new RateLimiter({
    caps: effectiveCaps({ trading: { requests: 5, seconds: 10 } }),
    seed: 7,
  });
  const sockets: SocketRoute = {
    path: '/ws',
    messageBytesMax: 100,
    waitingBytesMax: 2 ** 20,
    cutSeconds: 60,
    refusal: () => undefined,
    open: () => ({ message() {}, alive() {}, drained() {}, closed() {} }),
  };
  const { client, server } = await serve(
    t,
    ROUTES,
    { limiter, now: () => NOW, socketsPerCaller: 3 },
    [sockets],
  );
  const upgrade =
    'GET /ws HTTP/1.1\r\nHost: node\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n';
  const ask = async (from: string) => {
    const asking = client(from);
    return { asking, answer: await asking.send(upgrade).answer() };
  };
  const first = [await ask(FIRST), await ask(FIRST), await ask(FIRST)];
  assert.deepEqual(
    first.map(({ answer }) => answer.status),
    [101, 101, 101],
  );
  const fourth = (await ask(FIRST)).answer;
  assert.equal(fourth.status, 429);
  assert.equal(
    String(fourth.body),
    '{"error":"too many stream connections of this address","code":"TOO_MANY_CONNECTIONS"}',
  );
  first[0]!.asking.socket.destroy();
  await until(() => server.facts().connections.open === 3);
  assert.equal((await ask(FIRST)).answer.status, 101);
  const sixth = (await ask(FIRST)).answer;
  assert.equal(sixth.status, 429);
  assert.equal(sixth.headers.get('retry-after'), '10');
  assert.equal(String(sixth.body), '{"error":"Too Many Requests","code":"TOO_MANY_REQUESTS"}');
  assert.equal((await ask(SECOND)).answer.status, 101);
});
