/** Limits of a wallet on a whole node (docs/protocol.md#limits-of-a-wallet). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { NodeClient, type OrderTerms, Wallet } from '../../client/client.ts';
import { TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';

const LEDGER = { LEDGER: 'on', FAUCET: '1000', RESULT_CODES: 'on' };
const LIMITS = { ...LEDGER, OPEN_ORDERS_PER_WALLET: '2', EXPOSURE_PER_WALLET: '50' };
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
const [yes = '', no = ''] = market!.tokenIds;
let node = await TestNode.start(dataDir, LEDGER);
let clients: NodeClient[] = [];

async function join(name: string): Promise<NodeClient> {
  const url = `http://127.0.0.1:${node.port}`;
  const client = await NodeClient.connect(url, { wallet: Wallet.fromSeed(name) });
  clients.push(client);
  return client;
}

function leave(): void {
  for (const client of clients) client.close();
  clients = [];
}

after(leave);

async function restart(settings: Readonly<Record<string, string>>): Promise<NodeClient[]> {
  leave();
  await node.end('SIGKILL');
  node = await TestNode.start(dataDir, settings);
  return [await join('alice'), await join('bob')];
}

/** Code of the refusal, or the state of the order. */
async function placed(client: NodeClient, terms: Partial<OrderTerms>): Promise<string> {
  const order = { tokenId: yes, side: 'BUY', price: '0.5', size: '10', ...terms } as OrderTerms;
  const { code, status } = await client.orders.post(order);
  return code ?? status;
}

test('limits begin with the next start, and hold over a kill', async () => {
  let [alice, bob] = [await join('alice'), await join('bob')];
  assert.equal(await placed(bob, { tokenId: no, size: '200' }), 'live');
  assert.equal(await placed(alice, { size: '120' }), 'matched');
  for (let run = 0; run < 2; run++) {
    [alice, bob] = (await restart(LIMITS)) as [NodeClient, NodeClient];
    // The 60 from before the limit count nothing.
    assert.equal(await placed(alice, { price: '0.4', size: '130' }), 'EXPOSURE_TOO_HIGH');
  }
  assert.equal(await placed(alice, { size: '60', type: 'FAK' }), 'matched');
  assert.equal(await placed(alice, { price: '0.4', size: '51' }), 'EXPOSURE_TOO_HIGH');
  assert.equal(await placed(alice, { price: '0.4', size: '50' }), 'live');
  assert.equal(await placed(alice, { price: '0.01', size: '5' }), 'EXPOSURE_TOO_HIGH');
  assert.equal(await placed(bob, { price: '0.4', tokenId: no, size: '26' }), 'EXPOSURE_TOO_HIGH');
  [alice] = (await restart(LIMITS)) as [NodeClient, NodeClient];
  assert.equal(await placed(alice, { price: '0.01', size: '5' }), 'EXPOSURE_TOO_HIGH');
});

test('a preview names the refusal, and what is sold or cancelled makes room', async () => {
  const [alice] = clients as [NodeClient];
  const ticket = { tokenId: yes, side: 'BUY', orderType: 'GTC', price: '0.1', size: '10' } as const;
  const seen = await alice.orders.preview(ticket);
  assert.equal(seen.reason?.code, 'EXPOSURE_TOO_HIGH');
  const nobody = await NodeClient.connect(`http://127.0.0.1:${node.port}`);
  clients.push(nobody);
  assert.equal((await nobody.orders.preview(ticket)).reason, null);
  await alice.orders.cancelAll();
  assert.equal((await alice.orders.preview(ticket)).reason, null);
  assert.equal(await placed(alice, { price: '0.1', size: '10' }), 'live');
});

test('a wallet has so many resting orders, and takes beyond them', async () => {
  const [alice] = clients as [NodeClient];
  assert.equal(await placed(alice, { price: '0.05', size: '10' }), 'live');
  assert.equal(await placed(alice, { price: '0.04', size: '10' }), 'TOO_MANY_OPEN_ORDERS');
  const sale = { side: 'SELL', price: '0.9', size: '10' } as const;
  assert.equal(await placed(alice, sale), 'TOO_MANY_OPEN_ORDERS');
  assert.equal(await placed(alice, { size: '5', type: 'FAK' }), 'matched');
});

test('without the settings the next start has no limits', async () => {
  const [alice] = (await restart(LEDGER)) as [NodeClient];
  assert.equal(await placed(alice, { price: '0.3', size: '500' }), 'live');
  assert.equal(await placed(alice, { price: '0.2', size: '10' }), 'live');
});

test('a limit of exposure needs a ledger', async () => {
  const started = TestNode.start(temporaryDirectory(), { EXPOSURE_PER_WALLET: '5', LEDGER: 'off' });
  await assert.rejects(started, /EXPOSURE_PER_WALLET needs LEDGER=on/);
});
