import assert from 'node:assert/strict';
import test from 'node:test';
import { RATE_LIMITS } from '../../server/http/limits/rate-limits.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { get, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
const node = await TestNode.start(dataDir, {
  APP: 'on',
  FAULTS: 'on',
  MCP: 'on',
  RELAYER: 'on',
  RATE_LIMITS: 'on',
  RATE_LIMITS_OVERRIDES: 'orderSustained=1/600,tags=1/600,events=off',
});
const alice = await Trader.join(node, 'alice');

test('GET /rate-limits shows the table, and the caps in place of its rows', async () => {
  const { json } = await get(node, '/rate-limits');
  const { enabled, limits } = json as {
    enabled: boolean;
    limits: {
      name: string;
      requests: number;
      seconds: number;
      applies: boolean;
      default: object;
    }[];
  };
  assert.equal(enabled, true);
  assert.deepEqual(
    limits.map(({ name }) => name),
    Object.keys(RATE_LIMITS),
  );
  const row = (wanted: string) => limits.find(({ name }) => name === wanted);
  assert.deepEqual(row('orderSustained'), {
    ...RATE_LIMITS.orderSustained,
    name: 'orderSustained',
    requests: 1,
    applies: true,
    default: { requests: 24_000, seconds: 600 },
  });
  assert.equal(row('events')?.applies, false);
  const info = (await get(node, '/exchange-info')).json as { rate_limits: { name: string }[] };
  const applying = limits.filter(({ applies }) => applies).map(({ name }) => name);
  assert.deepEqual(
    info.rate_limits.map(({ name }) => name),
    applying,
  );
});

test('the health check answers fifty times in ten seconds, and then 429', async () => {
  const started = Date.now();
  const statuses: number[] = [];
  for (let i = 0; i < 52; i += 1) statuses.push((await get(node, '/')).status);
  if (Date.now() - started > 9_000) return; // a machine this busy has begun another window
  assert.deepEqual(statuses, [...Array<number>(50).fill(200), 429, 429]);
  assert.equal((await get(node, '/time')).status, 200, 'its cap is its own');
});

test('a throttled order is not placed, and may be sent again elsewhere', async () => {
  const post = (ticks: number) => {
    const signed = alice.sign({ market, side: 'BUY', ticks, shares: 5 });
    return { signed, reply: alice.ask(node, 'POST', '/order', JSON.stringify(signed.item)) };
  };
  assert.equal((await post(1).reply).status, 200);
  const { reply, signed } = post(2);
  const { headers, json, status } = await reply;
  assert.deepEqual(
    [status, json],
    [429, { error: 'Too Many Requests', code: 'TOO_MANY_REQUESTS' }],
  );
  const wait = Number(headers['retry-after']);
  assert(wait > 300 && wait <= 600, String(wait));
  assert.equal(headers['x-ratelimit-remaining'], '0');
  assert.equal((await alice.ask(node, 'GET', `/data/order/${signed.id}`)).status, 404);
  const [taken] = await alice.post(node, [signed]);
  assert.equal(taken?.errorMsg, '', 'no trace of it is left');
});

test('the catalog refuses throttled requests in its own words', async () => {
  assert.equal((await get(node, '/tags')).status, 200);
  const { json, status } = await get(node, '/tags');
  assert.deepEqual(
    [status, json],
    [429, { type: 'too many requests', error: 'Too Many Requests', code: 'TOO_MANY_REQUESTS' }],
  );
});

test('fetch that posts five megabytes to /books sees the 413', async () => {
  const answer = await fetch(`http://127.0.0.1:${node.port}/books`, {
    method: 'POST',
    body: new Uint8Array(5 * 2 ** 20),
  });
  assert.deepEqual(
    [answer.status, await answer.json()],
    [413, { error: 'payload too large', code: 'PAYLOAD_TOO_LARGE' }],
  );
});

test('every route answers the preflight of its method with the headers that it reads', async () => {
  for (const [key, { access }] of Object.entries(ROUTE_TABLE)) {
    const [method = '', path = ''] = key.split(' ');
    const answer = await fetch(`http://127.0.0.1:${node.port}${path}`, {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': method },
    });
    assert.equal(answer.status, 204, key);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*', key);
    const methods = answer.headers.get('access-control-allow-methods')?.split(', ') ?? [];
    assert(methods.includes(method), key);
    const names = answer.headers.get('access-control-allow-headers') ?? '';
    const level = access === 'level1' ? 'nonce' : 'api_key';
    if (access !== 'none') assert(names.includes(`service_${level}`), `${key}: ${names}`);
  }
});

/**
 * HEAD and GET of one URL, repeated until their etags are equal: statistics may change in between.
 */
async function headAndWhole(url: string): Promise<readonly [head: Response, whole: Response]> {
  for (;;) {
    const before = await fetch(url);
    const [head, whole] = [await fetch(url, { method: 'HEAD' }), await fetch(url)];
    if (before.headers.get('etag') === whole.headers.get('etag')) return [head, whole];
  }
}

test('HEAD of every route without a token is answered like GET, without the body', async () => {
  for (const path of ['/time', '/markets', '/events/1', '/rate-limits', '/book']) {
    const [head, whole] = await headAndWhole(`http://127.0.0.1:${node.port}${path}`);
    const type = [head.status, head.headers.get('content-type'), head.headers.get('etag')];
    const { headers, status } = whole;
    assert.deepEqual(type, [status, headers.get('content-type'), headers.get('etag')], path);
    assert.equal(await head.text(), '');
    const length = Number(head.headers.get('content-length'));
    if (head.headers.get('content-encoding') === null)
      assert.equal(length, (await whole.text()).length, path);
  }
});
