/** Agents of wallets on a whole node (docs/protocol.md#agents). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  type AgentTerms,
  ApiError,
  NodeClient,
  type OrderTerms,
  Wallet,
} from '../../client/client.ts';
import { readOnly } from '../../client/credentials.ts';
import { send, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';

const SETTINGS = { LEDGER: 'on', FAUCET: '1000', RESULT_CODES: 'on' };
const dataDir = temporaryDirectory();
const [market, other] = await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
assert(market && other);
const [yes = '', no = ''] = market.tokenIds;
const [elsewhere = ''] = other.tokenIds;
const node = await TestNode.start(dataDir, SETTINGS);
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
  const url = `http://127.0.0.1:${node.port}`;
  const payer = agentOf === undefined ? {} : { agentOf };
  const client = await NodeClient.connect(url, { wallet: keyOf(name), ...payer });
  clients.push(client);
  return client;
}

const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
const terms = (name: string, more: Partial<AgentTerms> = {}): AgentTerms => ({
  agent: keyOf(name).address,
  cashPerDay: '50',
  maxOrderSize: '200',
  markets: 'all',
  end: inAnHour,
  ...more,
});

/** Code of the refusal, or the state of the order. */
async function placed(client: NodeClient, given: Partial<OrderTerms>): Promise<string> {
  const order = { tokenId: yes, side: 'BUY', price: '0.5', size: '10', ...given } as OrderTerms;
  const { code, status } = await client.orders.post(order);
  return code ?? status;
}

const codeOf = async (call: Promise<unknown>): Promise<string | undefined> => {
  try {
    await call;
    return undefined;
  } catch (error) {
    assert(error instanceof ApiError, String(error));
    return error.code;
  }
};

const alice = await join('alice');
const bob = await join('bob');

test('an agent buys for the wallet up to its cash of the day and not a millionth more', async () => {
  await alice.authorizeAgent(terms('first'));
  const agent = await join('first', ALICE);
  assert.equal(await placed(bob, { tokenId: no, size: '60' }), 'live');
  assert.equal(await placed(agent, { size: '60' }), 'matched');
  assert.equal(await placed(agent, { price: '0.4', size: '50.000005' }), 'AGENT_CASH');
  assert.equal(await placed(agent, { price: '0.4', size: '50' }), 'live');
  assert.equal(await placed(agent, { price: '0.01', size: '5' }), 'AGENT_CASH');
  const [seen] = await alice.agents();
  assert.deepEqual(
    [seen?.spent, seen?.reserved, seen?.left, seen?.openOrders],
    ['30', '20', '0', 1],
  );
  assert.equal((await alice.balance(yes)).total, '60');
  assert.equal((await agent.balance(yes)).total, '60');
});

test('a replacement and a cancel give back what was not filled, and no more', async () => {
  const agent = await join('first', ALICE);
  const { value: open } = await agent.orders.open().next();
  assert(open);
  const wider = { tokenId: yes, side: 'BUY', price: '0.4', size: '51' } as const;
  const replaced = await agent.replace(open.id, wider);
  assert.deepEqual([replaced.canceled, replaced.placed?.code], [true, 'AGENT_CASH']);
  assert.equal(await placed(agent, { price: '0.4', size: '50' }), 'live');
  await agent.orders.cancelAll();
  assert.equal((await alice.agents())[0]?.left, '20');
});
