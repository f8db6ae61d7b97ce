/** Invitations on a whole node (docs/protocol.md#invitations). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { NodeClient, Wallet } from '../../client/client.ts';
import { type ApiKey, level1 } from '../../client/credentials.ts';
import { digestWords, inviteDigest } from '../../server/wallet/invitations.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { type Reply, send, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { cli } from '../common/run-cli.ts';
import { CHAIN_ID, seconds } from '../common/traders.ts';

const SETTINGS = { LEDGER: 'on', INVITES: 'on', FAUCET: '1000', KEYS_PER_HOUR: '1' };
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
const [tokenId = ''] = market!.tokenIds;
let operator = await OperatorNode.start(dataDir, SETTINGS);

const walletOf = (name: string): Wallet => Wallet.fromSeed(`invited ${name}`);
const codeOf = (number: number): string => number.toString(16).padStart(32, '0');
const digestOf = (code: string): string => inviteDigest(code).toString('hex');

function redeem(wallet: Wallet, body: unknown, nonce = '0'): Promise<Reply> {
  const headers = level1('SERVICE', wallet, CHAIN_ID, seconds(), nonce);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return send(operator.node, 'POST', '/invites/redeem', headers, text);
}

function issue(wallet: Wallet): Promise<Reply> {
  const headers = level1('SERVICE', wallet, CHAIN_ID, seconds(), '0');
  return send(operator.node, 'POST', '/auth/api-key', headers);
}

async function cashOf(wallet: Wallet): Promise<unknown> {
  const query = `?wallet=${wallet.address}`;
  const { json, status } = await operator.call(`GET /admin/ledger/balance${query}`);
  return status === 200 ? (json.cash as { total: string }).total : undefined;
}

const made = (codes: readonly string[], cash = '1000', note = '') =>
  operator.done('POST /admin/invites', { digests: codes.map(digestOf), cash, note });

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name));
}

const errorOf = ({ json, status }: Reply): unknown => [status, (json as { code: string }).code];

test('a code brings name, key and deposit to one wallet, and the same again when it is sent again', async () => {
  const alice = walletOf('alice');
  await made([codeOf(1), codeOf(2)], '1000', 'the first class');
  const first = await redeem(alice, { code: codeOf(1).toUpperCase(), name: 'alice' });
  assert.equal(first.status, 200, first.text);
  const { cash, name, ...trio } = first.json as ApiKey & { cash: string; name: string };
  assert.deepEqual([cash, name], ['1000000000', 'alice']);
  const client = await NodeClient.connect(`http://127.0.0.1:${operator.node.port}`, {
    wallet: alice,
    key: trio,
  });
  assert.equal((await client.balance()).free, '1000');
  client.close();
  assert.deepEqual((await redeem(alice, { code: codeOf(1), name: 'alice' })).json, first.json);
  assert.equal(await cashOf(alice), '1000');
  assert.deepEqual(errorOf(await redeem(walletOf('bob'), { code: codeOf(1) })), [
    409,
    'INVITATION_REDEEMED',
  ]);
  assert.deepEqual(errorOf(await redeem(alice, { code: codeOf(2) })), [409, 'WALLET_INVITED']);
  const info = await send(operator.node, 'GET', '/exchange-info', {});
  assert.equal((info.json as { mode: { invites: boolean } }).mode.invites, true);
});

test('without an invitation there is neither a key nor play money', async () => {
  const carol = walletOf('carol');
  assert.deepEqual(errorOf(await issue(carol)), [403, 'INVITATION_REQUIRED']);
  assert.equal(await cashOf(carol), undefined);
  for (const code of [codeOf(99), `${codeOf(2).slice(1)}f`])
    assert.deepEqual(errorOf(await redeem(carol, { code })), [404, 'INVITATION_UNKNOWN']);
  assert.deepEqual(errorOf(await issue(carol)), [403, 'INVITATION_REQUIRED']);
  await redeem(carol, { code: codeOf(2) });
  assert.equal((await issue(carol)).status, 200);
  assert.equal(await cashOf(carol), '1000');
});

test('a name that is taken, bad input and a wrong signature use no code', async () => {
  const dave = walletOf('dave');
  await made([codeOf(10)]);
  assert.deepEqual(errorOf(await redeem(dave, { code: codeOf(10), name: 'ALICE' })), [
    409,
    'PROFILE_NAME_TAKEN',
  ]);
  const bad = [{}, { code: 1 }, { code: 'short' }, { code: codeOf(10), name: '0xdave' }, '[', '[]'];
  for (const body of bad) assert.equal((await redeem(dave, body)).status, 400);
  const headers = level1('SERVICE', dave, CHAIN_ID, seconds(), '0');
  headers.SERVICE_ADDRESS = walletOf('carol').address;
  const text = JSON.stringify({ code: codeOf(10) });
  const forged = await send(operator.node, 'POST', '/invites/redeem', headers, text);
  assert.equal(forged.status, 401);
  const query = `/invites/redeem?code=${codeOf(10)}`;
  const proof = level1('SERVICE', dave, CHAIN_ID, seconds(), '0');
  assert.equal((await send(operator.node, 'POST', query, proof)).status, 400);
  assert.equal((await redeem(dave, { code: codeOf(10), name: 'dave' })).status, 200);
});

test('of twenty wallets that send one code at once, one gets it', async () => {
  await made([codeOf(20)], '7');
  const wallets = Array.from({ length: 20 }, (_, i) => walletOf(`racer ${i}`));
  const replies = await Promise.all(wallets.map((wallet) => redeem(wallet, { code: codeOf(20) })));
  const winners = wallets.filter((_, i) => replies[i]!.status === 200);
  assert.equal(winners.length, 1);
  for (const [i, wallet] of wallets.entries()) {
    const isWinner = wallet === winners[0];
    assert.equal(await cashOf(wallet), isWinner ? '7' : undefined);
    if (!isWinner) assert.deepEqual(errorOf(replies[i]!), [409, 'INVITATION_REDEEMED']);
  }
});

test('a kill in the middle leaves each code used once or not at all', async () => {
  const wallets = Array.from({ length: 30 }, (_, i) => walletOf(`killed ${i}`));
  await made(
    wallets.map((_, i) => codeOf(100 + i)),
    '5',
  );
  const ask = (wallet: Wallet, i: number) =>
    redeem(wallet, { code: codeOf(100 + i), name: `killed${i}` }).catch(() => undefined);
  const unheard = wallets.map(ask);
  await Promise.race(unheard);
  await operator.node.end('SIGKILL');
  await Promise.all(unheard);
  operator = await OperatorNode.start(dataDir, SETTINGS);
  for (const [i, wallet] of wallets.entries()) {
    const reply = await ask(wallet, i);
    assert.equal(reply?.status, 200, reply?.text);
    assert.equal((reply.json as { name: string }).name, `killed${i}`);
    assert.equal(await cashOf(wallet), '5');
  }
  const { batches } = await operator.done('GET /admin/invites');
  const [last] = batches as { open: number; redeemed: number }[];
  assert.deepEqual([last?.open, last?.redeemed], [0, 30]);
});

test('operators see numbers and no codes, and revoke what is open', async () => {
  const settings = {
    ADMIN_TOKEN: operator.token,
    ADMIN_PORT: new URL(operator.base).port,
  };
  const run = (...args: string[]) => cli(dataDir, ['invite', ...args], { settings });
  const {
    code: ended,
    stderr,
    stdout,
  } = await run(
    ...['create', '--count', '3', '--cash', '2.5', '--note', 'class b'],
    ...['--base', 'https://venue.example/'],
  );
  assert.equal(ended, 0, stderr);
  const links = stdout.trim().split('\n');
  assert.equal(links.length, 3);
  for (const link of links)
    assert.match(link, /^https:\/\/venue\.example\/app\/join#[0-9a-f]{32}$/);
  const [used = '', leaked = ''] = links.map((link) => link.slice(-32));
  assert.equal((await redeem(walletOf('erin'), { code: used })).status, 200);
  assert.match((await run('revoke', leaked)).stdout, /1 open, 1 redeemed, 1 revoked/);
  assert.deepEqual(errorOf(await redeem(walletOf('frank'), { code: leaked })), [
    404,
    'INVITATION_UNKNOWN',
  ]);
  const listed = await run('list');
  assert.match(listed.stdout, /2\.5 +1 +1 +1 +class b/);
  const batch = /batch (\d+)/.exec(stderr)?.[1] ?? '';
  assert.match((await run('revoke', batch)).stdout, /0 open, 1 redeemed, 2 revoked\n/);
  assert.match((await run('revoke', batch)).stdout, /it was done before/);
  assert.equal((await run('revoke', '999')).code, 1);
  const audit = JSON.stringify(await operator.done('GET /admin/audit'));
  for (const text of [listed.stdout, audit, operator.node.log])
    for (const link of links) assert(!text.includes(link.slice(-32)));
  const csv = await run('create', '--csv');
  assert.match(csv.stdout, /^code,link\n[0-9a-f]{32},\n$/);
});

test('an agent of an invited wallet has a key, and brings none to agents of its own', async () => {
  await made([codeOf(150)]);
  const [owner, agent, next] = [walletOf('judy'), walletOf('agent'), walletOf('next')];
  const trio = (await redeem(owner, { code: codeOf(150) })).json as ApiKey;
  const url = `http://127.0.0.1:${operator.node.port}`;
  const bounds = {
    cashPerDay: '50',
    maxOrderSize: '100',
    markets: 'all' as const,
    end: Number(seconds(3_600)),
  };
  const client = await NodeClient.connect(url, { wallet: owner, key: trio });
  await client.authorizeAgent({ ...bounds, agent: agent.address });
  const { status, json } = await issue(agent);
  assert.equal(status, 200);
  const key = json as ApiKey;
  const its = await NodeClient.connect(url, { wallet: agent, key, agentOf: owner.address });
  const order = { tokenId, side: 'BUY', price: '0.1', size: '5' } as const;
  assert.equal((await its.orders.post(order)).status, 'live');
  const own = await NodeClient.connect(url, { wallet: agent, key });
  await own.authorizeAgent({ ...bounds, agent: next.address });
  assert.deepEqual(errorOf(await issue(next)), [403, 'INVITATION_REQUIRED']);
  for (const each of [client, its, own]) each.close();
});

test('the same digests again are the same batch, and others of it are refused', async () => {
  const codes = [codeOf(200), codeOf(201)];
  const first = await made(codes);
  assert.deepEqual(await made(codes), { ...first, repeated: true });
  const digests = [codeOf(200), codeOf(202)].map(digestOf);
  const mixed = await operator.call('POST /admin/invites', { digests, cash: '1000' });
  assert.deepEqual([mixed.status, mixed.json.code], [409, 'ID_CONFLICT']);
  const twice = await operator.call('POST /admin/invites', { digests: [digests[0], digests[0]] });
  assert.equal(twice.status, 400);
  const long = { digests: [digestOf(codeOf(203))], note: 'é'.repeat(41) };
  assert.equal((await operator.call('POST /admin/invites', long)).status, 400);
});

test('the log has digests and no codes', async () => {
  const code = 'c0de7a5e'.repeat(4);
  await made([code]);
  await redeem(walletOf('grace'), { code });
  await operator.node.end('SIGTERM');
  const files = ['log', 'images', 'keys'].flatMap((name) => filesOf(join(dataDir, name)));
  const bytes = Buffer.concat(files.map((file) => readFileSync(file)));
  assert(bytes.includes(Buffer.from(digestWords(inviteDigest(code)).buffer)));
  assert(!bytes.includes(Buffer.from(code, 'hex')) && !bytes.includes(code));
  operator = await OperatorNode.start(dataDir, SETTINGS);
  assert.equal(await cashOf(walletOf('grace')), '1000');
});

test('a node without a ledger takes invitations without cash alone', async () => {
  await operator.node.end('SIGTERM');
  operator = await OperatorNode.start(temporaryDirectory(), { INVITES: 'on' });
  const digests = [digestOf(codeOf(1))];
  const paid = await operator.call('POST /admin/invites', { digests, cash: '1' });
  assert.deepEqual([paid.status, paid.json.code], [409, 'LEDGER_OFF']);
  await operator.done('POST /admin/invites', { digests });
  assert.deepEqual(errorOf(await issue(walletOf('alice'))), [403, 'INVITATION_REQUIRED']);
  const { json } = await redeem(walletOf('alice'), { code: codeOf(1), name: 'alice' });
  assert.equal((json as { cash: string }).cash, '0');
});
