/** Tool calls that nobody should make: wrong arguments, foreign previews and pages, and keys without the right. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NodeClient, type PreviewAnswer } from '../../client/client.ts';
import { clientVenue } from '../../server/mcp/client-venue.ts';
import { PREVIEW_SECONDS } from '../../server/mcp/previews.ts';
import type { Venue } from '../../server/mcp/tool.ts';
import { ToolServer } from '../../server/mcp/tool-server.ts';
import { TOOLS } from '../../server/mcp/tool-table.ts';
import { send, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { Agent, type Answer, BEFORE, NEWEST, readOnlyOf, signedBy } from './agent.ts';

const ORIGIN = 'https://app.example';

const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }, { id: 2, outcomes: ['Up', 'Down'] }]);
assert(market);
const node = await TestNode.start(dataDir, {
  LEDGER: 'on',
  FAUCET: '1000',
  MCP: 'on',
  FAULTS: 'on',
  CORS_ORIGINS: ORIGIN,
});
const url = `http://127.0.0.1:${node.port}`;
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const client = await NodeClient.connect(url, { wallet: alice.wallet });
const [yes = ''] = market.tokenIds;
const agent = await Agent.overHttp(node, NEWEST, signedBy(alice));
const nobody = await Agent.overHttp(node, BEFORE);

const TERMS = { market: 'market-1', outcome: 'Yes', side: 'BUY', size: '5', price: '0.1' };

async function signed(preview: Answer): Promise<Record<string, unknown>> {
  const { item } = await client.orders.signPreviewed(preview as unknown as PreviewAnswer);
  return JSON.parse(item) as Record<string, unknown>;
}

/** Sends a message as it is, and returns the answer of HTTP. */
function post(body: string, headers: Readonly<Record<string, string>> = {}) {
  return send(node, 'POST', '/mcp', headers, body);
}

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

test('a wrong argument is refused by name and rule, and unknown ones are ignored', async () => {
  const huge = 'x'.repeat(60_000);
  const wrong: readonly (readonly [string, object, RegExp])[] = [
    ['search', {}, /^query is missing; it must be/],
    ['search', { query: 7 }, /^query must be/],
    ['search', { query: huge }, /^query must be/],
    ['market', { market: { $ne: '' } }, /^market must be/],
    ['market', { market: ['market-1'] }, /^market must be/],
    ['book', { market: 'market-1', depth: 1e9 }, /^depth must be price levels/],
    ['book', { market: 'market-1', depth: '5' }, /^depth must be/],
    ['trades', { limit: 0 }, /^limit must be rows of the answer/],
    ['preview', { ...TERMS, side: 'buy' }, /^side must be one of BUY, SELL/],
    ['preview', { ...TERMS, size: '1e9' }, /^size must be/],
    ['preview', { ...TERMS, size: -5 }, /^size must be/],
    ['cancel', { order_id: '../../cancel-all' }, /^order_id must be/],
  ];
  for (const [name, args, rule] of wrong) {
    const { code, detail } = await agent.refused(name, args);
    assert.equal(code, 'INVALID_ARGUMENT', name);
    assert.match(String(detail), rule);
  }
  const { market: found } = await agent.call('market', {
    market: 'market-1',
    outcome: null,
    '__proto__ ': 1,
    verbose: true,
  });
  assert.equal(found, 'market-1');
  const paths = ['../market-1', 'market-1/tags', 'market-1?x=1', '%2e%2e', 'constructor'];
  for (const name of paths) {
    assert.equal((await agent.refused('market', { market: name })).code, 'UNKNOWN_SLUG', name);
  }
  const outcome = await agent.refused('book', { market: 'market-1', outcome: '__proto__' });
  assert.equal(outcome.code, 'UNKNOWN_OUTCOME');
  for (const next of ['0.??', '-1.', 'x', '9999.LTE=']) {
    const refused = await agent.refused('trades', { next });
    assert(['INVALID_NEXT', 'invalid_request', 'REFUSED'].includes(String(refused.code)), next);
  }
});

test('a name that is no tool is an error of the protocol', async () => {
  for (const name of ['', 'constructor', '__proto__', 'toString', 'Place', 'search ']) {
    await assert.rejects(agent.client.callTool({ name, arguments: {} }), /no tool has this name/);
  }
  await assert.rejects(
    agent.client.callTool({ name: 'search', arguments: [] as unknown as Record<string, never> }),
  );
});

test('an order needs a preview of the same key and terms, which places one order', async () => {
  const seen = await agent.call('preview', TERMS);
  const preview_id = seen.preview_id as string;
  const signed_order = await signed(seen);
  const of = (args: object) => agent.refused('place', { signed_order, ...args });
  assert.equal((await of({})).code, 'PREVIEW_NEEDED');
  assert.equal((await of({ without_preview: false })).code, 'PREVIEW_NEEDED');
  assert.equal((await of({ preview_id: 'constructor' })).code, 'PREVIEW_UNKNOWN');
  assert.equal((await agent.refused('place', { preview_id })).code, 'INVALID_ARGUMENT');

  const other = await Agent.overHttp(node, NEWEST, signedBy(bob));
  const foreign = await other.refused('place', { signed_order, preview_id });
  assert.equal(foreign.code, 'PREVIEW_UNKNOWN');
  await other.close();

  const odd: readonly unknown[] = [7, null, [], { toString: 'x' }, { order: { toString: 1 } }];
  for (const order of odd) {
    const sent = { ...signed_order, order };
    const refused = await agent.refused('place', { preview_id, signed_order: sent });
    assert.equal(refused.code, 'INVALID_ARGUMENT', JSON.stringify(order));
  }
  const unlike = { ...(signed_order.order as object), makerAmount: { toString: 'x' } };
  const object = { ...signed_order, order: unlike };
  assert.equal((await of({ preview_id, signed_order: object })).code, 'INVALID_ARGUMENT');
  const changes: readonly object[] = [{ size: '6' }, { price: '0.2' }, { outcome: 'No' }];
  for (const change of [...changes, { post_only: true }]) {
    const changed = await agent.call('preview', { ...TERMS, ...change });
    const refused = await agent.refused('place', {
      preview_id,
      signed_order: await signed(changed),
    });
    assert.equal(refused.code, 'PREVIEW_DIFFERS', JSON.stringify(change));
  }
  const key = 'the same key';
  const placing = { preview_id, signed_order, idempotency_key: key };
  const placed = await Promise.all(Array.from({ length: 5 }, () => agent.call('place', placing)));
  assert.equal(new Set(placed.map(({ order_id }) => order_id)).size, 1);
  assert.equal(placed.filter(({ repeated }) => repeated === true).length, 4);
  const { orders } = await agent.call('open_orders');
  assert.equal((orders as readonly unknown[]).length, 1);
  const second = await of({ preview_id, idempotency_key: 'another key' });
  assert.equal(second.code, 'PREVIEW_UNKNOWN');
  const used = await of({ without_preview: true, idempotency_key: key });
  assert.equal(used.code, 'IDEMPOTENCY_KEY_USED');

  const open = placed[0]?.order_id;
  const next = await agent.call('preview', { ...TERMS, price: '0.2' });
  const { id: other_id } = await client.orders.post({
    tokenId: yes,
    side: 'BUY',
    price: '0.3',
    size: '5',
  });
  const replaced = await agent.call('replace', {
    order_id: open,
    preview_id: next.preview_id,
    signed_order: { ...(await signed(next)), orderID: other_id },
  });
  assert.equal((replaced.placed as Answer).status, 'live');
  assert.deepEqual((replaced.canceled as Answer).order_ids, [open]);
  await agent.call('cancel', { order_id: other_id });
  assert.equal((await agent.refused('cancel', { order_id: open })).code, 'ORDER_NOT_OPEN');
  assert.equal((await agent.call('cancel_all', { market: 'market-2' })).canceled, 0);
  assert.equal((await agent.call('cancel_all')).canceled, 1);
});

test('an order whose answer is lost is placed once, and the same call tells what became of it', async () => {
  const fault = (kind: string, more: object = {}) =>
    alice.ask(node, 'POST', '/faults', JSON.stringify({ kind, count: 1, ...more }));
  const seen = await agent.call('preview', TERMS);
  const placing = { preview_id: seen.preview_id, signed_order: await signed(seen) };
  assert.equal((await fault('lost-answer')).status, 200);
  const lost = await agent.refused('place', placing);
  assert.equal(lost.code, 'OUTCOME_UNKNOWN');
  assert.match(String(lost.next), /nothing is placed twice/);
  const known = await agent.call('place', placing);
  assert.equal(known.status, 'live');
  const { orders } = await agent.call('open_orders');
  assert.deepEqual(
    (orders as readonly Answer[]).map(({ order_id }) => order_id),
    [known.order_id],
  );
  // A fault of the key strikes its tool calls too.
  assert.equal((await fault('delay', { ms: 50 })).status, 200);
  assert.equal((await agent.call('cancel_all')).canceled, 1);
  await alice.ask(node, 'DELETE', '/faults');
});

test('an order that ends behind the last date of the language is listed with its seconds', async () => {
  const expiration = 9_000_000_000_000;
  const seen = await agent.call('preview', { ...TERMS, order_type: 'GTD', expiration });
  const placing = { preview_id: seen.preview_id, signed_order: await signed(seen) };
  const { order_id } = await agent.call('place', placing);
  const { orders } = await agent.call('open_orders');
  const [order] = orders as readonly Answer[];
  assert.deepEqual([order?.order_id, order?.expires], [order_id, `${expiration} unix seconds`]);
  await agent.call('cancel', { order_id });
});

test('a preview places nothing after a minute, nor where the order would be refused', async () => {
  let now = 0;
  const tools = new ToolServer(() => now);
  const privateKey = alice.wallet.exportKey();
  const venue = await clientVenue(url, { privateKey, isReadOnly: false, agentOf: undefined });
  const call = async (name: string, args: Record<string, unknown>): Promise<Answer> => {
    const answer = await tools.call(venue, name, args);
    return JSON.parse(answer?.text ?? 'null') as Answer;
  };
  const { preview_id } = await call('preview', TERMS);
  now = PREVIEW_SECONDS * 1_000 + 1;
  assert.equal((await call('place', { preview_id })).code, 'PREVIEW_UNKNOWN');
  const dear = await call('preview', { ...TERMS, size: '100000' });
  assert.equal((dear.reason as Answer).code, 'NOT_ENOUGH_BALANCE');
  assert.equal(dear.preview_id, undefined);
  const bare = await call('place', { ...TERMS, without_preview: true, size: '100000' });
  assert.equal(bare.code, 'NOT_ENOUGH_BALANCE');
  assert.match(String(bare.next), /^Call balance/);
  const whole = await call('place', { without_preview: true, size: '5' });
  assert.equal(whole.code, 'INVALID_ARGUMENT');
  const many = await Promise.all(Array.from({ length: 40 }, () => call('preview', TERMS)));
  const [oldest, newest] = [many.at(0), many.at(-1)];
  assert.equal((await call('place', { preview_id: oldest?.preview_id })).code, 'PREVIEW_UNKNOWN');
  const differing = { preview_id: newest?.preview_id, side: 'SELL' };
  assert.equal((await call('place', differing)).code, 'PREVIEW_DIFFERS');
  for (const size of [1e-7, 5.0000001, 1e10]) {
    const wrong = await call('place', { preview_id: newest?.preview_id, size });
    assert.equal(wrong.code, 'INVALID_ARGUMENT', String(size));
    assert.match(String(wrong.detail), /^size must be a decimal with up to 6 decimals/);
    assert.match(String(wrong.next), /^Correct the argument/);
    assert.equal((await call('preview', { ...TERMS, size })).code, 'INVALID_ARGUMENT');
  }
  assert.equal((await call('place', { preview_id: newest?.preview_id, size: 5 })).status, 'live');
  assert.equal((await call('cancel_all', {})).canceled, 1);
});

test('a key that may read, and no key at all, place nothing', async () => {
  const { json } = await alice.call(node, 'POST', '/auth/readonly-api-key');
  const reader = await Agent.overHttp(
    node,
    NEWEST,
    readOnlyOf(alice, (json as { apiKey: string }).apiKey),
  );
  const [open, read] = [await nobody.names(), await reader.names()];
  assert.deepEqual(
    Object.keys(TOOLS).filter((name) => !open.includes(name)),
    Object.entries(TOOLS).flatMap(([name, { needs }]) => (needs === 'none' ? [] : [name])),
  );
  assert.deepEqual(
    Object.keys(TOOLS).filter((name) => !read.includes(name)),
    Object.entries(TOOLS).flatMap(([name, { needs }]) => (needs === 'trade' ? [name] : [])),
  );
  const placing = {
    without_preview: true,
    signed_order: await signed(await agent.call('preview', TERMS)),
  };
  assert.equal((await reader.refused('place', placing)).code, 'READ_ONLY');
  assert.equal((await nobody.refused('place', placing)).code, 'KEY_NEEDED');
  assert.equal((await nobody.refused('balance')).code, 'KEY_NEEDED');
  assert.equal((await nobody.refused('trades', { wallet: 'own' })).code, 'KEY_NEEDED');
  await reader.call('trades', { wallet: 'own' });
  assert.equal((await nobody.call('preview', TERMS)).preview_id, undefined);
  assert.deepEqual((await reader.call('open_orders')).orders, []);
  const { wallet } = await reader.call('balance', { market: 'market-1' });
  assert.equal(wallet, alice.address);
  const other = await Agent.overHttp(node, NEWEST, signedBy(bob));
  assert.equal((await other.refused('place', placing)).code, 'OWNER_MISMATCH');
  await Promise.all([reader.close(), other.close()]);
});

test('a page of another origin, and a body that is no message, are refused', async () => {
  const foreign = await post(LIST, { Origin: 'https://evil.example' });
  assert.deepEqual([foreign.status, (foreign.json as Answer).code], [403, 'ORIGIN_NOT_ALLOWED']);
  const own = await post(LIST, { Origin: `http://127.0.0.1:${node.port}` });
  assert.equal(own.status, 403);
  assert.equal((await post(LIST, { Origin: ORIGIN })).status, 200);
  assert.equal((await post(LIST)).status, 200);
  assert.equal((await post(JSON.stringify('x'.repeat(2 ** 20)))).status, 413);
  const bodies = [
    '',
    '{',
    'null',
    '7',
    `[${LIST}]`,
    `${'['.repeat(900)}`,
    '{}',
    '{"jsonrpc":"1.0"}',
  ];
  for (const body of bodies) assert.equal((await post(body)).status, 400, body.slice(0, 20));
  const wide = JSON.stringify({ jsonrpc: '2.0', id: 1, params: Array(5_000).fill(0) });
  assert.equal((await post(wide)).status, 400);
  const headers = signedBy(alice)(LIST);
  const forged = await post(LIST.replace('list', 'call'), headers);
  assert.deepEqual([forged.status, (forged.json as Answer).code], [401, 'INVALID_L2']);
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await send(node, method, '/mcp')).status, 405);
  }
  // No stream may stay open.
  await assert.rejects(
    agent.client.listen({ toolsListChanged: true }),
    /limit reached|not supported/,
  );
});

test('each tool calls the routes of its row and no others', async () => {
  const privateKey = bob.wallet.exportKey();
  const whole = await clientVenue(url, { privateKey, isReadOnly: false, agentOf: undefined });
  const called = new Set<string>();
  const call: Venue['call'] = (route, request) => {
    called.add(route);
    return whole.call(route, request);
  };
  const venue: Venue = { ...whole, call };
  const tools = new ToolServer(() => 0);
  const placed = await tools.call(whole, 'place', { ...TERMS, without_preview: true });
  const { order_id } = JSON.parse(placed?.text ?? '') as Answer;
  const args: Readonly<Record<string, object>> = {
    search: { query: 'Event' },
    event: { event: 'event-1' },
    place: { ...TERMS, without_preview: true },
    replace: { ...TERMS, without_preview: true, order_id },
    cancel: { order_id },
    price_history: { market: '1', outcome: 'Yes' },
    preview: TERMS,
    time: {},
    leaderboard: {},
    statement: {},
  };
  for (const [name, { routes }] of Object.entries(TOOLS)) {
    called.clear();
    for (const market of ['market-1', '1']) {
      await tools.call(venue, name, { market, ...args[name] });
    }
    const others = [...called].filter((route) => !(routes as readonly string[]).includes(route));
    assert.deepEqual(others, [], name);
    assert(called.size > 0, name);
  }
});
