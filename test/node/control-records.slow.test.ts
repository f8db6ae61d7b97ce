/** Control records survive a kill and the loss of keys/, because they follow from the log. */
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiKey, level1, level2 } from '../../client/credentials.ts';
import { openCatalog } from '../../storage/catalog/catalog.ts';
import { ControlRecordStore } from '../../storage/control-records/control-record-store.ts';
import { openEnvironment, openTable } from '../../storage/kv/lmdb.ts';
import { logDirectory } from '../../storage/log/file-log.ts';
import { wholeEnd } from '../../storage/log/readable-end.ts';
import { OperatorNode } from '../admin/operator-node.ts';
import { send, TestNode, temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { freshSeed, Random, SHORT } from '../common/random.ts';
import { cli } from '../common/run-cli.ts';
import { CHAIN_ID, seconds, Trader } from '../common/traders.ts';

const KEPT = { durability: 'committed', readOnly: false } as const;
const dataDir = temporaryDirectory();
await withMarkets(dataDir, [{ id: 1 }]);
const remove = (name: string): void => rmSync(join(dataDir, name), { recursive: true });

const issue = (node: TestNode, { wallet }: Trader, nonce: string) =>
  send(node, 'POST', '/auth/api-key', level1('SERVICE', wallet, CHAIN_ID, seconds(), nonce));

function ask(node: TestNode, trader: Trader, trio: ApiKey, method = 'GET', query = '') {
  const path = method === 'GET' ? '/auth/api-keys' : '/auth/api-key';
  const headers = level2('SERVICE', trader.address, trio, method, path, '', seconds());
  return send(node, method, `${path}${query}`, headers);
}

/** Changes every kind of control record, and kills the node at once after the last answer. */
async function changed(): Promise<{ traders: Trader[]; revoked: ApiKey; readOnly: string }> {
  const operator = await OperatorNode.start(dataDir);
  const { node } = operator;
  assert.doesNotMatch(node.log, /keys/, 'a first start has nothing to say of keys');
  const traders: Trader[] = [];
  for (const name of ['alice', 'bob', 'carol']) traders.push(await Trader.join(node, name));
  const [alice, bob] = traders as [Trader, Trader];
  const revoked = (await issue(node, alice, '5')).json as ApiKey;
  const made = await alice.ask(node, 'POST', '/auth/readonly-api-key');
  assert.equal((await alice.ask(node, 'POST', '/heartbeats')).status, 200);
  const banned = await operator.call('POST /admin/bans', { wallet: bob.address, reason: 'test' });
  assert.equal(banned.status, 200);
  assert.equal((await operator.call('POST /admin/pause', { reason: 'a while' })).status, 200);
  // The venue is paused: keys go on as cancels do.
  assert.equal((await issue(node, alice, '6')).status, 200);
  assert.equal((await ask(node, alice, revoked, 'DELETE')).status, 200);
  await node.end('SIGKILL');
  return { traders, revoked, readOnly: (made.json as ApiKey).apiKey };
}

const { readOnly, revoked, traders } = await changed();

async function holds(): Promise<string> {
  const [alice, bob, carol] = traders as [Trader, Trader, Trader];
  const { call, node } = await OperatorNode.start(dataDir).then((operator) => ({
    call: operator.call.bind(operator),
    node: operator.node,
  }));
  const keys = (await ask(node, alice, alice.trio)).json as string[];
  assert.equal(keys.length, 2, 'the first and the one of the pause');
  assert(!keys.includes(revoked.apiKey));
  assert.equal((await ask(node, alice, revoked)).status, 401);
  assert.equal((await ask(node, carol, carol.trio)).status, 200);
  assert.equal((await ask(node, bob, bob.trio)).status, 403);
  const valid = `/auth/validate-readonly-api-key?key=${readOnly}&address=${alice.address}`;
  assert.equal((await send(node, 'GET', valid)).status, 200);
  const { json } = await call('GET /admin/pause');
  assert.deepEqual([json.paused, json.reason], [true, 'a while']);
  const listed = (await call('GET /admin/keys')).json.keys as { state: string }[];
  assert.equal(listed.length, 6);
  assert.equal(listed.filter(({ state }) => state === 'revoked').length, 1);
  await node.end('SIGKILL');
  return node.log;
}

test('keys, a revocation, a ban, a pause and a watch survive a kill right after their answers', async () => {
  assert.doesNotMatch(await holds(), /keys/);
  const kept = new ControlRecordStore(dataDir, KEPT);
  const watched = [...kept.records()].filter(({ about }) => about === 'watch');
  await kept.close();
  assert.equal(watched.length, 1);
});

test('control records come back from the log when keys/ is gone', async () => {
  remove('keys');
  assert.match(await holds(), /warn keys\/ is new: made again from batches 1 to \d+$/m);
});

test('decisions of operators come back without keys/ and node.key, and no API key does', async () => {
  const copy = temporaryDirectory();
  cpSync(dataDir, copy, { recursive: true });
  for (const name of ['keys', 'node.key']) rmSync(join(copy, name), { recursive: true });
  const { call, node } = await OperatorNode.start(copy).then((operator) => ({
    call: operator.call.bind(operator),
    node: operator.node,
  }));
  assert.deepEqual((await call('GET /admin/keys')).json.keys, []);
  assert.equal((await call('GET /admin/pause')).json.paused, true);
  const wallet = traders[2]!.address;
  assert.equal((await call('POST /admin/keys', { wallet })).status, 200);
  await node.stop();
});

test('a copy of keys/ that is ahead of the log, or of another log, is refused by name', async () => {
  const copy = temporaryDirectory();
  cpSync(dataDir, copy, { recursive: true });
  const kept = new ControlRecordStore(copy, KEPT);
  const position = kept.position()!;
  kept.apply([], { ...position, digest: position.digest ^ 1 });
  const another = await TestNode.refuse(copy);
  assert.match(another.log, /error keys\/ holds batch \d+ of another log; put back a copy of DATA/);
  kept.apply([], { ...position, sequence: 10_000 });
  await kept.close();
  const ahead = await TestNode.refuse(copy);
  assert.match(ahead.log, /ends with batch \d+, but keys\/ holds batch 10000/);
});

test('keys/ of an older version is taken over once', async () => {
  // As that version left it: rows, no position, and its own proof of a write.
  const root = openEnvironment({ path: join(dataDir, 'keys'), durability: 'flushed' });
  const meta = openTable(root, 'meta');
  for (const name of ['position', 'page', 'catalog']) meta.removeSync(Buffer.from(name));
  meta.putSync(Buffer.from('probe'), Buffer.alloc(4_096, 1));
  await root.close();
  const end = wholeEnd(logDirectory(dataDir));
  const copy = temporaryDirectory();
  cpSync(dataDir, copy, { recursive: true });
  const [, bob, carol] = traders.map(({ address }) => address);
  assert.equal((await cli(copy, ['wallet', 'ban', carol!])).code, 0);
  const bans = (await cli(copy, ['wallet', 'bans'])).stdout;
  assert(bans.includes(bob!) && bans.includes(carol!), 'a command takes them over as well');
  assert.match(
    await holds(),
    new RegExp(`warn keys/ of an older version is taken over at batch ${end?.last}\n`),
  );
  assert.doesNotMatch(await holds(), /keys\//);
});

test('the log names each catalog generation in use once', async () => {
  const inUse = async (): Promise<[recorded: unknown, stored: string | undefined]> => {
    const node = await TestNode.start(dataDir);
    await node.stop();
    const kept = new ControlRecordStore(dataDir, KEPT);
    const record = [...kept.records()].find(({ about }) => about === 'catalog');
    await kept.close();
    const store = openCatalog(dataDir, KEPT);
    const digest = store.digest();
    await store.close();
    return [record, digest];
  };
  const [first, digest] = await inUse();
  assert.deepEqual(first, { about: 'catalog', digest });
  const { last } = wholeEnd(logDirectory(dataDir))!;
  assert.deepEqual(await inUse(), [first, digest]);
  assert.equal(wholeEnd(logDirectory(dataDir))?.last, last, 'nothing new, no batch');
  await withMarkets(dataDir, [{ id: 1 }, { id: 2 }]);
  const [second, other] = await inUse();
  assert.notEqual(other, digest);
  assert.deepEqual(second, { about: 'catalog', digest: other });
  // The same objects have the same digest, wherever and in whatever order they were written.
  await withMarkets(dataDir, [{ id: 2 }, { id: 1 }]);
  assert.deepEqual(await inUse(), [second, other]);
});

test('a command on a stopped directory is a batch of the log, and verification finds no fault', async () => {
  const before = wholeEnd(logDirectory(dataDir))!.last;
  const wallet = traders[1]!.address;
  assert.equal((await cli(dataDir, ['wallet', 'unban', wallet])).code, 0);
  assert.equal((await cli(dataDir, ['venue', 'resume'])).code, 0);
  assert.equal(wholeEnd(logDirectory(dataDir))?.last, before + 2);
  assert.equal((await cli(dataDir, ['wallet', 'bans'])).stdout.includes(wallet), false);
  const node = await TestNode.start(dataDir);
  assert.equal((await ask(node, traders[1]!, traders[1]!.trio)).status, 200);
  await node.stop();
  const { code, stdout } = await cli(dataDir, ['verify']);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^ok +keys +6 API keys, up to batch (\d+) of \1$/m);
  const kept = new ControlRecordStore(dataDir, KEPT);
  const lost = [...kept.keyRows()].find(({ id }) => id === revoked.apiKey)!;
  kept.apply([{ about: 'key', row: { ...lost, revoked: false } }], kept.position()!);
  await kept.close();
  const wrong = await cli(dataDir, ['verify']);
  assert.match(wrong.stdout, /^damaged keys +its row of key .* is another than the log leads to$/m);
});

test('a kill at any time loses no answered key and no answered revocation', async () => {
  const seed = freshSeed();
  const random = new Random(seed);
  const place = temporaryDirectory();
  await withMarkets(place, [{ id: 1 }]);
  let node = await TestNode.start(place);
  const alice = await Trader.join(node, 'alice');
  /** Newest answer by API key; `unknown` when none came. */
  const answered = new Map<string, 'issued' | 'revoked' | 'unknown'>([
    [alice.trio.apiKey, 'issued'],
  ]);
  let nonce = 0;
  const live = async (): Promise<void> => {
    nonce += 1;
    const issued = await issue(node, alice, String(nonce)).catch(() => undefined);
    if (issued?.status !== 200) return;
    const trio = issued.json as ApiKey;
    answered.set(trio.apiKey, 'issued');
    if (random.next() % 2 === 0) return;
    answered.set(trio.apiKey, 'unknown');
    const gone = await ask(node, alice, trio, 'DELETE').catch(() => undefined);
    if (gone?.status === 200) answered.set(trio.apiKey, 'revoked');
  };
  for (let round = 0; round < (SHORT === false ? 12 : 4); round++) {
    const all = Array.from({ length: 12 }, live);
    await sleep(random.next() % 60);
    await node.end('SIGKILL');
    await Promise.all(all);
    node = await TestNode.start(place);
    const found = new Set((await ask(node, alice, alice.trio)).json as string[]);
    for (const [key, state] of answered) {
      if (state === 'unknown') answered.set(key, found.has(key) ? 'issued' : 'revoked');
      else assert.equal(found.has(key), state === 'issued', `seed ${seed}: ${key} was ${state}`);
    }
    // A key whose answer did not arrive may be there: its wallet gets it when it asks again.
    assert(found.size <= nonce + 1, `seed ${seed}: a key that nobody asked for`);
  }
  await node.stop();
});
