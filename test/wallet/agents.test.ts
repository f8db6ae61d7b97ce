/** Agents of wallets on a whole node (docs/protocol.md#agents): what one may do, and attacks of one on its bound. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  type Agent,
  type AgentTerms,
  ApiError,
  NodeClient,
  type OrderTerms,
  Wallet,
} from '../../client/client.ts';
import { level1, level2, nonceOfBody, readOnly } from '../../client/credentials.ts';
import type { OrderResult } from '../../client/types.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { depositWalletByEthers } from '../common/ethers.ts';
import {
  type Reply,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { CHAIN_ID, seconds } from '../common/traders.ts';

const BEACON = PROFILE_TABLE.beaconWalletFactory.polymarket;
const SETTINGS = {
  LEDGER: 'on',
  FAUCET: '1000',
  RESULT_CODES: 'on',
  BEACON_WALLET_FACTORY: BEACON,
};
const dataDir = temporaryDirectory();
const [market, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(market && other);
const [yes = '', no = ''] = market.tokenIds;
const [elsewhere = ''] = other.tokenIds;
let operator = await OperatorNode.start(dataDir, SETTINGS);
let clients: NodeClient[] = [];
const leave = (): void => {
  for (const client of clients) client.close();
  clients = [];
};
after(leave);

const keyOf = (name: string): Wallet => Wallet.fromSeed(`agents/${name}`);
const ALICE = keyOf('alice').address;

/** @param agentOf wallet whose agent it is */
async function join(name: string, agentOf?: string): Promise<NodeClient> {
  const url = `http://127.0.0.1:${operator.node.port}`;
  const payer = agentOf === undefined ? {} : { agentOf };
  const client = await NodeClient.connect(url, { wallet: keyOf(name), ...payer });
  clients.push(client);
  return client;
}

/** API key in an order of another signer. */
const NO_KEY = '00000000-0000-0000-0000-000000000000';
const IN_AN_HOUR = Math.floor(Date.now() / 1_000) + 3_600;
const terms = (name: string, more: Partial<AgentTerms> = {}): AgentTerms => ({
  agent: keyOf(name).address,
  cashPerDay: '50',
  maxOrderSize: '200',
  markets: 'all',
  end: IN_AN_HOUR,
  ...more,
});

/** Code of the refusal, or the state of the order. */
async function placed(client: NodeClient, given: Partial<OrderTerms>): Promise<string> {
  const order = { tokenId: yes, side: 'BUY', price: '0.5', size: '10', ...given } as OrderTerms;
  const { code, status } = await client.orders.post(order);
  return code ?? status;
}

async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  const failed = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert(failed instanceof ApiError, String(failed));
  return failed.code;
}

async function agentOf(client: NodeClient, name: string): Promise<Agent> {
  const found = (await client.agents()).find(({ agent }) => agent === keyOf(name).address);
  assert(found);
  return found;
}

/** Request with the API key of a name, or with its level-1 signature. */
async function ask(
  name: string,
  method: string,
  path: string,
  body = '',
  level = 2,
): Promise<Reply> {
  const wallet = keyOf(name);
  const { node } = operator;
  const nonce = level === 1 ? nonceOfBody(body) : '0';
  const proof = level1('SERVICE', wallet, CHAIN_ID, seconds(), nonce);
  if (level === 1) return send(node, method, path, proof, body);
  const { json } = await send(node, 'POST', '/auth/api-key', proof);
  const [bare = ''] = path.split('?');
  const key = json as Parameters<typeof level2>[2];
  const headers = level2('SERVICE', wallet.address, key, method, bare, body, seconds());
  return send(node, method, path, headers, body);
}

const refusalOf = ({ json, status }: Reply): [number, string | undefined] => [
  status,
  (json as { code?: string }).code,
];

let alice = await join('alice');
let bob = await join('bob');

test('an agent buys for the wallet up to its cash of the day and not a millionth more', async () => {
  const made = await alice.authorizeAgent(terms('first'));
  assert.deepEqual(
    [made.state, made.cashPerDay, made.maxOrderSize, made.left, made.wallet],
    ['active', '50', '200', '50', ALICE],
  );
  const agent = await join('first', ALICE);
  assert.equal(await placed(bob, { tokenId: no, size: '60' }), 'live');
  assert.equal(await placed(agent, { size: '60' }), 'matched');
  const more = { tokenId: yes, side: 'BUY', price: '0.4', size: '50.000005' } as const;
  const { code, detail } = await agent.orders.post(more);
  assert.equal(code, 'AGENT_CASH');
  assert.match(detail, /^20\.000002 of collateral needed, fee included, 20 left /);
  assert.equal(await placed(agent, { price: '0.4', size: '50' }), 'live');
  assert.equal(await placed(agent, { price: '0.01', size: '5' }), 'AGENT_CASH');
  const { left, openOrders, reserved, spent } = await agentOf(alice, 'first');
  assert.deepEqual([spent, reserved, left, openOrders], ['30', '20', '0', 1]);
});

test('an agent reads the wallet, its open orders and the statement, and a stranger does not', async () => {
  const agent = await join('first', ALICE);
  assert.equal((await agent.balance(yes)).total, '60');
  assert.deepEqual(await agent.balance(), await alice.balance());
  assert.equal(await placed(alice, { price: '0.3' }), 'live');
  const seen = new Set<string>();
  for await (const { id, maker_address, owner } of agent.orders.open()) {
    assert.equal(maker_address, ALICE);
    seen.add(`${id}/${owner === NO_KEY ? 'other' : 'own'}`);
  }
  assert.deepEqual([...seen].map((each) => each.split('/')[1]).sort(), ['other', 'own']);
  // Statements are behind the trade by a fraction of a second.
  await until(async () => (await agent.ledger.statement().next()).value?.cause === 'TRADE');
  const paths = ['/data/orders?', '/ledger/balance?', '/ledger/statement?'];
  for (const path of [...paths, '/balance-allowance?asset_type=COLLATERAL&']) {
    const reply = await ask('stranger', 'GET', `${path}wallet=${ALICE}`);
    assert.deepEqual(refusalOf(reply), [403, 'WALLET_FOREIGN'], path);
  }
  await alice.orders.cancelAll();
});

test('a replacement gives back what was not filled, and never allows more', async () => {
  const agent = await join('first', ALICE);
  const { value: open } = await agent.orders.open().next();
  assert(open);
  const wider = { tokenId: yes, side: 'BUY', price: '0.4', size: '50.5' } as const;
  const replaced = await agent.replace(open.id, wider);
  assert.deepEqual([replaced.canceled, replaced.placed?.code], [true, 'AGENT_CASH']);
  assert.equal(await placed(agent, { price: '0.4', size: '50' }), 'live');
  await agent.orders.cancelAll();
  assert.equal((await agentOf(alice, 'first')).left, '20');
});

test('a preview knows the bound of an agent, and what is left of it', async () => {
  const agent = await join('first', ALICE);
  const ticket = { tokenId: yes, side: 'BUY', orderType: 'GTC', price: '0.4' } as const;
  const seen = await agent.orders.preview({ ...ticket, size: '50.5' });
  assert.equal(seen.wallet, ALICE);
  const { code, left, needed } = seen.reason ?? {};
  assert.deepEqual([code, left, needed], ['AGENT_CASH', '20', '20.2']);
  assert.equal((await agent.orders.preview({ ...ticket, size: '50' })).reason, null);
  const large = await agent.orders.preview({ ...ticket, size: '201' });
  assert.equal(large.reason?.code, 'AGENT_ORDER_SIZE');
  const body = { ...ticket, size: '50', wallet: ALICE };
  const stranger = await ask('stranger', 'POST', '/orders/preview', JSON.stringify(body));
  assert.deepEqual(refusalOf(stranger), [403, 'WALLET_FOREIGN']);
  const nobody = await send(operator.node, 'POST', '/orders/preview', {}, JSON.stringify(body));
  assert.deepEqual(refusalOf(nobody), [403, 'WALLET_FOREIGN']);
});

test('two connections that place and replace at once spend no more than the cash', async () => {
  await alice.authorizeAgent(terms('racer', { cashPerDay: '50' }));
  const racers = [await join('racer', ALICE), await join('racer', ALICE)];
  assert.equal(await placed(bob, { tokenId: no, price: '0.6', size: '150' }), 'live');
  const rounds = Array.from({ length: 12 }, (_, i) => i);
  const results = await Promise.all(
    racers.flatMap((racer) =>
      rounds.map(async (i) => {
        const batch = Array.from({ length: 8 }, () => ({
          tokenId: yes,
          side: 'BUY' as const,
          price: i % 3 === 0 ? '0.4' : '0.1',
          size: '7.77',
          type: i % 4 === 0 ? ('FAK' as const) : ('GTC' as const),
        }));
        const [first] = await racer.orders.postAll(batch);
        if (first?.status === 'live') {
          await racer.replace(first.id, { ...batch[0]!, price: '0.4', size: '60' });
        }
        return first?.code;
      }),
    ),
  );
  assert(results.includes('AGENT_CASH'), 'some orders are refused');
  const { openOrders, reserved, spent } = await agentOf(alice, 'racer');
  const total = Number(spent) + Number(reserved);
  assert(total <= 50 && total > 40, `${spent} spent, ${reserved} reserved`);
  assert(openOrders > 0);
  const signed = await racers[0]!.orders.sign({
    tokenId: yes,
    side: 'BUY',
    price: '0.4',
    size: '3',
  });
  const [once, twice] = await Promise.all(racers.map((racer) => racer.orders.send(signed)));
  assert(once!.code !== undefined || twice!.known !== undefined, 'one order is placed once');
});

test('the bound holds over a kill of the node, also in the middle of orders', async () => {
  const before = [await agentOf(alice, 'racer'), await agentOf(alice, 'first')];
  await alice.authorizeAgent(terms('killed'));
  const url = `http://127.0.0.1:${operator.node.port}`;
  const options = { wallet: keyOf('killed'), agentOf: ALICE, patienceMs: 1 };
  const killed = await NodeClient.connect(url, options);
  clients.push(killed);
  const ids: string[] = [];
  const order = { tokenId: yes, side: 'BUY', price: '0.4', size: '5.01' } as const;
  const sent = Array.from({ length: 60 }, () =>
    killed.orders.post(order).then(
      ({ code, id }) => (code === undefined ? ids.push(id) : undefined),
      () => undefined,
    ),
  );
  await Promise.race(sent);
  await operator.node.end('SIGKILL');
  await Promise.all(sent);
  leave();
  operator = await OperatorNode.start(dataDir, SETTINGS);
  [alice, bob] = [await join('alice'), await join('bob')];
  const found = await agentOf(alice, 'killed');
  const taken = Number(found.spent) + Number(found.reserved);
  assert(taken <= 50 && taken > 2 * ids.length, `${taken} for ${ids.length} answered orders`);
  const again = await join('killed', ALICE);
  for (const id of ids) assert.notEqual(await again.orders.get(id), undefined);
  await alice.revokeAgent({ agent: keyOf('killed').address });
  assert.deepEqual([await agentOf(alice, 'racer'), await agentOf(alice, 'first')], before);
  const racer = await join('racer', ALICE);
  const { left } = before[0]!;
  const tooMuch = (Number(left) / 0.01 + 1).toFixed(0);
  assert.equal(await placed(racer, { price: '0.01', size: tooMuch }), 'AGENT_CASH');
});

test('agents are listed newest first in pages of a hundred, and those of one wallet alone', async () => {
  const amounts = { cashPerDay: '1000000', maxOrderSize: '1000000' };
  const body = JSON.stringify(terms('busy', amounts));
  const wallets = Array.from({ length: 101 }, (_, i) => `employer ${i}`);
  for (const name of wallets) {
    const { node } = operator;
    await send(
      node,
      'POST',
      '/auth/api-key',
      level1('SERVICE', keyOf(name), CHAIN_ID, seconds(), '0'),
    );
    assert.equal((await ask(name, 'POST', '/agents', body, 1)).status, 200);
  }
  const newest = wallets.map((name) => keyOf(name).address).reverse();
  const busy = await join('busy');
  const page = await busy.call('GET /agents', { query: {} });
  assert.deepEqual(
    page.data.map(({ wallet }) => wallet),
    newest.slice(0, 100),
  );
  assert.equal(page.count, 100);
  const all = await busy.agents();
  assert.deepEqual(
    all.map(({ wallet }) => wallet),
    newest,
  );
  const of = async (wallet: string) => {
    const { data, next_cursor } = await busy.call('GET /agents', { query: { wallet } });
    assert.equal(next_cursor, 'LTE=');
    return data.map((each) => each.wallet);
  };
  assert.deepEqual(await of(newest[100]!.toLowerCase()), [newest[100]]);
  assert.deepEqual(await of(ALICE), []);
  assert.deepEqual(await of(keyOf('no account').address), []);
  const wrong = [
    ['next_cursor=x', 'INVALID_CURSOR'],
    ['wallet=0x1', 'INVALID_FIELD'],
  ] as const;
  for (const [query, code] of wrong) {
    assert.deepEqual(refusalOf(await ask('busy', 'GET', `/agents?${query}`)), [400, code]);
  }
});

test('an agent obeys its markets and its size, and sells within them without cash', async () => {
  const { conditionId } = market;
  await alice.authorizeAgent(
    terms('seller', { cashPerDay: '0', maxOrderSize: '20', markets: [conditionId] }),
  );
  const seller = await join('seller', ALICE);
  const sale = { side: 'SELL', price: '0.95' } as const;
  assert.equal(await placed(seller, { ...sale, size: '20' }), 'live');
  assert.equal(await placed(seller, { ...sale, size: '20.01' }), 'AGENT_ORDER_SIZE');
  assert.equal(await placed(seller, { price: '0.01', size: '5' }), 'AGENT_CASH');
  assert.equal(await placed(seller, { ...sale, tokenId: elsewhere }), 'AGENT_MARKET');
});

test('an agent has no right to the wallet but to trade for it', async () => {
  const body = (value: object): string => JSON.stringify(value);
  const wide = { ...terms('first'), wallet: ALICE, cashPerDay: '9000000000', maxOrderSize: '1' };
  const id = `${Date.now()}-mine`;
  const { conditionId } = market;
  const tries: [number, string | undefined, Promise<Reply>][] = [
    // It names the wallet, and proves its own address.
    [
      403,
      'WALLET_FOREIGN',
      ask('first', 'POST', '/agents', body({ ...wide, agent: keyOf('x').address }), 1),
    ],
    [403, 'WALLET_FOREIGN', ask('first', 'POST', '/agents', body(wide), 1)],
    [
      403,
      'WALLET_FOREIGN',
      ask(
        'first',
        'POST',
        '/agents/revoke',
        body({ wallet: ALICE, agent: keyOf('racer').address }),
      ),
    ],
    [
      403,
      'WALLET_FOREIGN',
      ask('first', 'POST', '/profile', body({ hidden: true, wallet: ALICE })),
    ],
    [
      400,
      'NOT_ENOUGH_BALANCE',
      ask('first', 'POST', '/merge', body({ conditionId, amount: '1000000', id })),
    ],
    [401, 'INVALID_L1', ask('first', 'POST', '/agents', body(wide), 2)],
  ];
  for (const [status, code, reply] of tries)
    assert.deepEqual(refusalOf(await reply), [status, code]);
  // A level-1 signature names the address that made it, so one for the wallet is none of the agent's.
  const forged = {
    ...level1('SERVICE', keyOf('first'), CHAIN_ID, seconds(), '0'),
    SERVICE_ADDRESS: ALICE,
  };
  for (const [method, path] of [
    ['GET', '/auth/derive-api-key'],
    ['POST', '/auth/api-key'],
    ['POST', '/agents'],
  ] as const) {
    const reply = await send(
      operator.node,
      method,
      path,
      forged,
      path === '/agents' ? body(wide) : '',
    );
    assert.deepEqual(refusalOf(reply), [401, 'INVALID_L1'], path);
  }
  assert.equal((await agentOf(alice, 'first')).cashPerDay, '50');
  // Its keys are its own: those of the wallet are not listed to it.
  const keys = (await ask('first', 'GET', '/auth/api-keys')).json as string[];
  const owners = await alice.keys.list();
  assert(keys.every((key) => !owners.includes(key)));
});

test('a signature of level 1 for a login, or for other terms, authorises nobody', async () => {
  const body = JSON.stringify({ ...terms('first'), cashPerDay: '9000000', maxOrderSize: '1' });
  const wider = body.replace('9000000', '90000000');
  for (const nonce of ['0', '1', nonceOfBody(wider)]) {
    const login = level1('SERVICE', keyOf('alice'), CHAIN_ID, seconds(), nonce);
    const reply = await send(operator.node, 'POST', '/agents', login, body);
    assert.deepEqual(refusalOf(reply), [401, 'INVALID_L1'], nonce);
  }
  assert.equal((await agentOf(alice, 'first')).cashPerDay, '50');
});

test('a read-only key authorises and revokes nothing, and lists agents', async () => {
  const key = await alice.keys.createReadOnly();
  const reader = readOnly('SERVICE', ALICE, key);
  const revoke = JSON.stringify({ agent: keyOf('first').address });
  const { node } = operator;
  assert.equal(
    (await send(node, 'POST', '/agents', reader, JSON.stringify(terms('x')))).status,
    401,
  );
  assert.equal((await send(node, 'POST', '/agents/revoke', reader, revoke)).status, 403);
  const listed = await send(node, 'GET', '/agents', reader);
  assert.equal((listed.json as { data: Agent[] }).data.length, 4);
});

test('an agent cancels its own orders, and the owner those of its agents', async () => {
  await alice.authorizeAgent(terms('second'));
  const second = await join('second', ALICE);
  const racer = await join('racer', ALICE);
  const { id: owners } = await alice.orders.post({
    tokenId: yes,
    side: 'BUY',
    price: '0.02',
    size: '5',
  });
  const { id } = await second.orders.post({ tokenId: yes, side: 'BUY', price: '0.02', size: '5' });
  const first = await join('first', ALICE);
  for (const client of [alice, second, first]) {
    const query = { wallet: ALICE, id };
    const { data } = await client.call('GET /data/orders', { query });
    assert.deepEqual(
      data.map((order) => order.id),
      [id],
    );
  }
  const read = async (name: string, path: string) =>
    (await ask(name, 'GET', path)).json as { data: unknown[] };
  for (const query of [`id=${id}`, `id=${id}&wallet=${keyOf('bob').address}`]) {
    const name = query.includes('wallet') ? 'bob' : 'alice';
    assert.deepEqual((await read(name, `/data/orders?${query}`)).data, [], query);
  }
  assert.equal((await alice.orders.get(id))?.owner, NO_KEY);
  assert.notEqual((await second.orders.get(id))?.owner, NO_KEY);
  for (const client of [bob, racer]) assert.equal(await client.orders.get(id), undefined);
  assert.deepEqual((await racer.orders.cancelMany([owners, id])).canceled, []);
  assert.deepEqual((await bob.orders.cancel(id)).canceled, []);
  await racer.orders.cancelAll();
  assert.equal((await agentOf(alice, 'racer')).openOrders, 0);
  assert.equal((await agentOf(alice, 'second')).openOrders, 1);
  assert.deepEqual((await alice.orders.cancelMany([owners, id])).canceled, [owners, id]);
  assert.equal((await alice.orders.get(id))?.status, 'canceled');
});

test('a revoked agent has no open orders, places none, and reads the wallet no more', async () => {
  const second = await join('second', ALICE);
  assert.equal(await placed(second, { price: '0.1' }), 'live');
  const racing = Promise.all(
    Array.from({ length: 10 }, () => placed(second, { price: '0.1', size: '5' })),
  );
  const revoked = await alice.revokeAgent({ agent: keyOf('second').address });
  const states = await racing;
  assert.deepEqual([revoked.state, revoked.openOrders, revoked.left], ['revoked', 0, '0']);
  assert(
    states.every((state) => state === 'live' || state === 'AGENT_ENDED'),
    String(states),
  );
  assert.equal((await agentOf(alice, 'second')).openOrders, 0);
  const refused = await second.orders.post({ tokenId: yes, side: 'BUY', price: '0.1', size: '5' });
  assert.deepEqual(
    [refused.code, refused.reason],
    ['AGENT_ENDED', 'the agent is not authorised any more'],
  );
  assert.match(refused.detail, /POST \/agents/);
  assert.equal(await codeOf(second.balance()), 'WALLET_FOREIGN');
  assert.equal((await alice.revokeAgent({ agent: keyOf('second').address })).state, 'revoked');
  assert.equal(
    await codeOf(alice.revokeAgent({ agent: keyOf('nobody').address })),
    'UNKNOWN_AGENT',
  );
});

test('a signature of another key, another maker and another type make no order of an agent', async () => {
  const agent = await join('first', ALICE);
  const order = { tokenId: yes, side: 'BUY', price: '0.1', size: '5' } as const;
  const { item } = await agent.orders.sign(order);
  const changed = (change: object): string => {
    const sent = JSON.parse(item) as { order: object };
    return JSON.stringify({ ...sent, order: { ...sent.order, ...change } });
  };
  const bobs = keyOf('bob').address;
  const cases: [object, string][] = [
    [{ maker: bobs }, 'INVALID_SIGNATURE'],
    [{ makerAmount: '500001' }, 'TICK_SIZE'],
    [{ takerAmount: '10000000', makerAmount: '1000000' }, 'INVALID_SIGNATURE'],
    [{ signer: ALICE }, 'OWNER_MISMATCH'],
  ];
  for (const [change, code] of cases) {
    const result = (await ask('first', 'POST', '/order', changed(change))).json as OrderResult;
    assert.equal(result.code, code, JSON.stringify(change));
  }
  const stranger = await join('stranger', ALICE);
  assert.equal(await placed(stranger, { price: '0.1' }), 'INVALID_SIGNATURE');
});

test('the owner of a deposit wallet authorises an agent of it, and nobody else does', async () => {
  const { wallet } = depositWalletByEthers(BEACON, ALICE);
  const deposit = { wallet, amount: '10', id: `${Date.now()}-derived` };
  await operator.done('POST /admin/ledger/deposit', deposit);
  assert.equal(await codeOf(bob.authorizeAgent(terms('third', { wallet }))), 'WALLET_FOREIGN');
  const made = await alice.authorizeAgent(terms('third', { wallet, cashPerDay: '2' }));
  assert.equal(made.wallet, wallet);
  const agent = await join('third', wallet);
  assert.equal(await placed(agent, { price: '0.1', size: '20' }), 'live');
  assert.equal(await placed(agent, { price: '0.1', size: '5' }), 'AGENT_CASH');
  assert.equal((await agent.balance()).reserved, '2');
  assert.equal((await alice.revokeAgent({ agent: keyOf('third').address, wallet })).openOrders, 0);
  assert.equal(await codeOf(agent.balance()), 'WALLET_FOREIGN');
});

test('a ban of the owner stops its agents, also for a wallet that another signs for', async () => {
  const wallet = keyOf('bound').address;
  const deposit = { wallet, signer: ALICE, amount: '10', id: `${Date.now()}-bound` };
  await operator.done('POST /admin/ledger/deposit', deposit);
  await alice.authorizeAgent(terms('first', { wallet }));
  const agent = await join('first', wallet);
  assert.equal(await placed(agent, { price: '0.1' }), 'live');
  assert.equal((await agent.balance()).total, '10');
  await operator.done('POST /admin/bans', { wallet: ALICE, reason: 'a test' });
  assert.equal(await placed(agent, { price: '0.1' }), 'ADDRESS_BANNED');
});

test('a node without a ledger takes no agent, and says why', async () => {
  const node = await TestNode.start(temporaryDirectory(), { LEDGER: 'off' });
  const body = JSON.stringify({ ...terms('first'), cashPerDay: '1', maxOrderSize: '1' });
  const proof = level1('SERVICE', keyOf('alice'), CHAIN_ID, seconds(), nonceOfBody(body));
  const reply = await send(node, 'POST', '/agents', proof, body);
  assert.deepEqual(refusalOf(reply), [409, 'LEDGER_OFF']);
});
