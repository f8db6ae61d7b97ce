import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Caller } from '../../server/admin/operation-row.ts';
import { OPERATIONS, type OperationKey, operationRow } from '../../server/admin/operation-table.ts';
import { Operations } from '../../server/admin/operations.ts';
import { AuditLog, auditEntries } from '../../storage/operations/audit-log.ts';
import { temporaryDirectory, withMarkets } from '../common/node-harness.ts';
import { Trader } from '../common/traders.ts';
import { OperatorNode } from './operator-node.ts';

const dataDir = temporaryDirectory();
await withMarkets(dataDir, [{ id: 1 }]);
const operator = await OperatorNode.start(dataDir);
const { base, node, token } = operator;
const alice = await Trader.join(node, 'alice');
const call: OperatorNode['call'] = (...args) => operator.call(...args);

const newestEntry = async () => (await auditEntries(dataDir, 1))[0];

test('operations without ADMIN_TOKEN need the token in DATA_DIR, which only its user can read', async () => {
  assert.equal(statSync(join(dataDir, 'admin.token')).mode & 0o777, 0o600);
  for (const key of Object.keys(OPERATIONS) as OperationKey[]) {
    if (operationRow(key).ofPlay === true) continue;
    const none = await call(key, key.startsWith('POST') ? {} : undefined, {});
    assert.deepEqual([none.status, none.json.error], [401, 'unauthorized'], key);
  }
  assert.equal((await call('GET /admin/keys')).status, 200);
});

test('no page of another site runs an operation, even with the token, and one of the listener does', async () => {
  const bearer = { Authorization: `Bearer ${token}` };
  const wallet = alice.wallet.address;
  for (const Origin of ['http://evil.example', base.replace('http', 'https'), `${base}0`, 'null']) {
    const { status } = await call(
      'POST /admin/keys',
      { wallet, nonce: '9' },
      { ...bearer, Origin },
    );
    assert.equal(status, 403, Origin);
  }
  const own = await call('POST /admin/resume', {}, { ...bearer, Origin: base });
  assert.equal(own.status, 200);
  const foreign = { ...bearer, 'Sec-Fetch-Site': 'cross-site' };
  assert.equal((await call('GET /admin/keys', undefined, foreign)).status, 403);
  assert.equal((await call('DELETE /admin/keys')).status, 405);
});

test('an input that breaks a rule is refused with its member and rule, and changes nothing', async () => {
  const before = await newestEntry();
  const cases: readonly [key: string, body: unknown, error: string][] = [
    ['POST /admin/keys', {}, 'invalid_field: wallet'],
    ['POST /admin/keys', { wallet: '0x12' }, 'invalid_field: wallet'],
    ['POST /admin/keys', { wallet: alice.wallet.address, nonce: 1 }, 'invalid_field: nonce'],
    ['POST /admin/keys', { wallet: alice.wallet.address, none: '1' }, 'unknown_field: none'],
    ['POST /admin/keys', [], 'invalid body'],
    ['POST /admin/keys', 'text', 'invalid body'],
    ['GET /admin/keys?limit=0', undefined, 'invalid limit'],
    ['GET /admin/keys?wallet=0xme', undefined, 'invalid wallet'],
    ['GET /admin/wallets?after=-1', undefined, 'invalid after'],
    ['GET /admin/wallets?funded=yes', undefined, 'invalid funded'],
  ];
  for (const [key, body, error] of cases) {
    const { json, status } = await call(key, body);
    assert.deepEqual([status, json.error], [400, error], JSON.stringify([key, body]));
    assert.equal(typeof json.detail, 'string');
  }
  const unknown = await call('GET /admin/keys?wallet=me');
  assert.deepEqual([unknown.status, unknown.json.error], [404, 'wallet is not known']);
  const long = await call('POST /admin/keys', { wallet: 'x'.repeat(70_000) });
  assert.deepEqual([long.status, long.json.error], [413, 'body too large']);
  assert.deepEqual(await newestEntry(), before);
});

test('a key is issued, listed and revoked, and each change is in the audit log without its secret', async () => {
  const wallet = `0x${'ab'.repeat(20)}`;
  const operator = { Authorization: `Bearer ${token}`, 'X-Operator': 'Ada' };
  const issued = await call('POST /admin/keys', { wallet, nonce: '7' }, operator);
  assert.equal(issued.status, 200);
  const key = String(issued.json.apiKey);
  const listed = async () => {
    const { json } = await call(`GET /admin/keys?wallet=${wallet}`);
    return (json.keys as { key: string; state: string }[]).map(({ key: id, state }) => [id, state]);
  };
  assert.deepEqual(await listed(), [[key, 'active']]);
  assert.equal((await call('POST /admin/keys/revoke', { key })).json.changed, true);
  assert.equal((await call('POST /admin/keys/revoke', { key })).json.changed, false);
  assert.deepEqual(await listed(), [[key, 'revoked']]);
  const unknown = await call('POST /admin/keys/revoke', { key: key.replaceAll(/\d/g, '0') });
  assert.deepEqual([unknown.status, unknown.json.error], [404, 'key not found']);

  const { json } = await call('GET /admin/audit?limit=4');
  const entries = json.entries as { actor: string; route: string; body: unknown; time: string }[];
  assert.deepEqual(
    entries.map(({ body, route, ...rest }) => [route, (rest as { status?: number }).status]),
    [
      ['POST /admin/keys/revoke', 404],
      ['POST /admin/keys/revoke', 200],
      ['POST /admin/keys/revoke', 200],
      ['POST /admin/keys', 200],
    ],
  );
  const [first] = entries.slice(-1);
  assert.equal(first?.actor, 'Ada, 127.0.0.1');
  assert.deepEqual(first?.body, { wallet, nonce: '7' });
  assert(Math.abs(Date.parse(first?.time ?? '') - Date.now()) < 3_600_000);
  const folder = join(dataDir, 'audit');
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  assert(!texts.join('').includes(String(issued.json.secret)));
});

test('a resolver may do what resolving needs, is refused all else, and is named in the audit log', async () => {
  const path = join(dataDir, 'resolver.token');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const resolver = { Authorization: `Bearer ${readFileSync(path, 'utf8').trim()}` };
  const allowed: string[] = [];
  for (const key of Object.keys(OPERATIONS) as OperationKey[]) {
    const body = key.startsWith('POST') ? { none: 1 } : undefined;
    const { json, status } = await call(key, body, resolver);
    if (status !== 403) allowed.push(key);
    else assert.match(String(json.detail), /^RESOLVER_TOKEN does not allow this/, key);
  }
  const named = allowed.filter((key) => key !== 'POST /clock/step');
  assert.deepEqual(named, [
    'GET /admin/role',
    'POST /admin/markets/halt',
    'POST /admin/markets/resume',
    'POST /admin/markets/resolve',
    'POST /admin/markets/void',
    'POST /admin/markets/dry-run',
    'POST /admin/markets/withdraw-proposal',
    'GET /admin/markets/proposals',
  ]);
  const { json } = await call('GET /admin/role', undefined, resolver);
  assert.deepEqual(json, { role: 'resolver', operations: named });
  assert.equal((await call('GET /admin/role')).json.role, 'operator');
  const condition = `0x${'00'.repeat(32)}`;
  assert.equal((await call('POST /admin/markets/halt', { condition }, resolver)).status, 404);
  const byResolver = await newestEntry();
  assert.deepEqual([byResolver?.route, byResolver?.role], ['POST /admin/markets/halt', 'resolver']);
  await call('POST /admin/resume', {});
  assert.equal((await newestEntry())?.role, 'operator');
});

test('the document of the operations has every row, and /docs shows it', async () => {
  const response = await fetch(`${base}/openapi.json`);
  const document = (await response.json()) as { paths: Record<string, Record<string, unknown>> };
  const keys = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(keys.sort(), Object.keys(OPERATIONS).sort());
  const page = await fetch(`${base}/docs`);
  assert.match(await page.text(), /swagger-ui-bundle\.js/);
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /style-src 'self' 'unsafe-inline'/,
  );
  assert.equal((await fetch(`${base}/docs/swagger-ui.css`)).status, 200);
  assert.equal((await fetch(`${base}/docs/other`)).status, 404);
});

test('the audit log continues after a torn line, and stays within its bound', async () => {
  const directory = temporaryDirectory();
  const change = (i: number) => ({ actor: 'test', route: 'POST /admin/x', body: { i } });
  const bounds = { bytesOfFile: 1_000, filesMax: 3 };
  const first = new AuditLog(directory, bounds);
  assert.equal(await first.begin(change(1)), 1);
  await first.close();
  const folder = join(directory, 'audit');
  appendFileSync(join(folder, readdirSync(folder)[0]!), '{"id":2,"time":"20');
  const second = new AuditLog(directory, bounds);
  const id = await second.begin(change(2));
  await second.end(id, 409, 'no');
  assert.deepEqual(
    (await auditEntries(directory, 10)).map(({ body, id: of, status }) => [of, body, status]),
    [
      [2, { i: 2 }, 409],
      [1, { i: 1 }, undefined],
    ],
  );
  for (let i = 3; i <= 100; i++) await second.end(await second.begin(change(i)), 200);
  await second.close();
  const names = readdirSync(folder);
  assert.equal(names.length, 3);
  for (const name of names) assert(statSync(join(folder, name)).size <= 1_000 + 1);
  const [newest] = await auditEntries(directory, 1);
  assert.deepEqual([newest?.id, newest?.status], [100, 200]);
  const [older] = await auditEntries(directory, 1, 100);
  assert.equal(older?.id, 99);
});

test('no change is made when its audit entry cannot be written', async () => {
  const { Operations } = await import('../../server/admin/operations.ts');
  let calls = 0;
  const handlers = new Proxy({}, { get: () => () => (calls += 1) });
  const operations = new Operations({
    handlers: handlers as ConstructorParameters<typeof Operations>[0]['handlers'],
    audit: {
      begin: () => Promise.reject(new Error('no space left')),
      end: () => Promise.resolve(),
    },
    resolve: (_, input) => input,
    log: () => undefined,
  });
  const body = Buffer.from(JSON.stringify({ wallet: alice.wallet.address }));
  const answer = await operations.run({
    key: 'POST /admin/keys',
    query: '',
    body,
    actor: 'x',
    role: 'operator',
  });
  assert.equal(answer.status, 503);
  assert.match(answer.body, /audit log unavailable/);
  assert.equal(calls, 0);
  await node.stop();
});

test('only a handover runs when the audit log cannot be written, and its handler learns of it', async () => {
  const callers: Caller[] = [];
  const operations = new Operations({
    handlers: {
      'POST /admin/cluster/handover': (_, caller) => {
        callers.push(caller);
        return { from: 'n1', to: 'n2', ms: 5 };
      },
      'POST /admin/resume': () => assert.fail('nothing is changed without an entry'),
    },
    audit: {
      begin: () => Promise.reject(new Error('ENOSPC')),
      end: () => assert.fail('there is no entry'),
    },
    resolve: (_, input) => input,
    log: () => undefined,
  });
  const made = (key: OperationKey) =>
    operations.run({
      key,
      query: '',
      body: Buffer.from('{}'),
      actor: 'anna, 127.0.0.1',
      role: 'operator',
    });
  assert.deepEqual(await made('POST /admin/cluster/handover'), {
    status: 200,
    body: '{"from":"n1","to":"n2","ms":5}',
  });
  assert.deepEqual(callers, [
    { actor: 'anna, 127.0.0.1', role: 'operator', isAudited: false, file: new Uint8Array() },
  ]);
  const refused = await made('POST /admin/resume');
  assert.equal(refused.status, 503);
  assert.match(refused.body, /audit log unavailable/);
});
