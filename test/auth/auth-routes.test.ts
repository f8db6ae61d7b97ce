/**
 * Keys and credentials on a whole node: access to orders, codes of refusals, keys after a restart,
 * and secrets that no file or answer shows. Rules: docs/protocol.md#level-2
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { level1 } from '../../client/credentials.ts';
import { Wallet } from '../../client/wallet.ts';
import { refusalCode } from '../../server/common/error-bodies.ts';
import { useCompiledNodes } from '../common/forms.ts';
import {
  get,
  type Reply,
  send,
  TestNode,
  temporaryDirectory,
  withMarkets,
} from '../common/node-harness.ts';
import { rounds, SHORT } from '../common/random.ts';
import { plainRefusal } from '../common/refused.ts';
import { bodyOf, CHAIN_ID, type Result, seconds, Trader } from '../common/traders.ts';

useCompiledNodes();
const dataDir = temporaryDirectory();
const [market] = await withMarkets(dataDir, [{ id: 1 }]);
assert(market);
let node = await TestNode.start(dataDir, { LOG_LEVEL: 'debug' });
const alice = await Trader.join(node, 'alice');
const bob = await Trader.join(node, 'bob');
const logs: string[] = [];

function signed(): string {
  assert(market);
  return bodyOf([alice.sign({ market, side: 'BUY', ticks: 10, shares: 5 })]);
}

function assertTaken({ json, status, text }: Reply): void {
  assert.equal(status, 200, text);
  assert.equal((json as Result[])[0]?.errorMsg, '', text);
}

function assertRefused({ json, status }: Reply, reason: string | RegExp): void {
  assert.equal(status, 401);
  const { error } = json as { error: string };
  if (typeof reason === 'string') assert.equal(error, `invalid_l2: ${reason}`);
  else assert.match(error, reason);
}

test('each credential that is missing, malformed or wrong has a reason of its own', async () => {
  const body = signed();
  for (const name of ['ADDRESS', 'API_KEY', 'PASSPHRASE', 'TIMESTAMP', 'SIGNATURE']) {
    const missing = await alice.postText(node, body, { [`SERVICE_${name}`]: '' });
    assertRefused(missing, `missing header SERVICE_${name}`);
    const malformed = await alice.postText(node, body, { [`SERVICE_${name}`]: 'zz' });
    assertRefused(malformed, `malformed header SERVICE_${name}`);
  }
  const flipped = alice.address.replace(/[a-f]/, (letter) => letter.toUpperCase());
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ SERVICE_ADDRESS: flipped }, 'malformed header SERVICE_ADDRESS'],
    [{ SERVICE_ADDRESS: bob.address }, 'unknown key or wrong passphrase'],
    [{ SERVICE_API_KEY: bob.trio.apiKey }, 'unknown key or wrong passphrase'],
    [
      { SERVICE_API_KEY: '550e8400-e29b-41d4-a716-446655440000' },
      'unknown key or wrong passphrase',
    ],
    [{ SERVICE_PASSPHRASE: bob.trio.passphrase }, 'unknown key or wrong passphrase'],
    [{ SERVICE_SIGNATURE: 'a'.repeat(64) }, 'wrong signature'],
    [{ SERVICE_TIMESTAMP: seconds(-1) }, 'wrong signature'],
  ];
  for (const [change, reason] of cases) {
    assertRefused(await alice.postText(node, body, change), reason);
  }
  assertTaken(await alice.postText(node, body));
});

test('timestamps more than five minutes early or late are stale, and the answer has the time', async () => {
  const body = signed();
  for (const [offset, unit] of [
    [-310, 1],
    [330, 1],
    [0, 1000],
  ] as const) {
    const headers = alice.headers(body, String(Number(seconds(offset)) * unit));
    const reply = await send(node, 'POST', '/orders', headers, body);
    assertRefused(reply, /^invalid_l2: stale timestamp, server time is \d{10}$/);
  }
  for (const offset of [-270, 290]) {
    const fresh = signed();
    const reply = await send(node, 'POST', '/orders', alice.headers(fresh, seconds(offset)), fresh);
    assertTaken(reply);
  }
});

test('the signature covers the raw bytes: odd spacing passes, any flipped byte does not', async () => {
  const [item] = JSON.parse(signed()) as [{ order: object }];
  const odd = ` [\n\t${JSON.stringify(item, null, 3).replace('"BUY"', '"\\u0042UY"')} ]\r\n`;
  const headers = alice.headers(odd);
  const bytes = Buffer.from(odd);
  const stride = Math.ceil(bytes.length / rounds(60));
  for (let at = 0; at < bytes.length; at += stride) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    assertRefused(await send(node, 'POST', '/orders', headers, flipped), 'wrong signature');
  }
  for (const cut of [bytes.subarray(1), bytes.subarray(0, -1), Buffer.concat([bytes, bytes])]) {
    assertRefused(await send(node, 'POST', '/orders', headers, cut), 'wrong signature');
  }
  assertTaken(await send(node, 'POST', '/orders', headers, bytes));
});

test('hex of either case, base64url and base64 are all signatures; header names know no case', async () => {
  const forms = [
    (hex: string) => hex.toUpperCase(),
    (hex: string) => Buffer.from(hex, 'hex').toString('base64'),
    (hex: string) => Buffer.from(hex, 'hex').toString('base64url'),
    (hex: string) => `${Buffer.from(hex, 'hex').toString('base64url')}=`,
  ];
  for (const form of forms) {
    const body = signed();
    const hex = alice.headers(body).SERVICE_SIGNATURE ?? '';
    assertTaken(await alice.postText(node, body, { SERVICE_SIGNATURE: form(hex) }));
  }
  const body = signed();
  const lower = Object.entries(alice.headers(body)).map(([name, value]) => [
    name.toLowerCase(),
    name === 'SERVICE_ADDRESS' ? value.toLowerCase() : value,
  ]);
  assertTaken(await send(node, 'POST', '/orders', Object.fromEntries(lower), body));
});

test('a signature over the path alone, or with its query, is accepted', async () => {
  const body = signed();
  assertTaken(await send(node, 'POST', '/orders?x=1', alice.headers(body), body));
  const again = signed();
  const timestamp = seconds();
  const signature = createHmac('sha256', Buffer.from(alice.trio.secret, 'base64'))
    .update(`${timestamp}POST/orders?x=1${again}`)
    .digest('hex');
  const headers = { ...alice.headers(again, timestamp), SERVICE_SIGNATURE: signature };
  assertTaken(await send(node, 'POST', '/orders?x=1', headers, again));
});

test('credentials of one trader place no orders of another', async () => {
  const body = signed();
  const [result] = (await bob.postText(node, body)).json as Result[];
  assert.equal(result?.errorMsg, 'owner_address_mismatch');
});

test('level 1 issues one trio for each nonce, derives it again, and names faults', async () => {
  const carol = Wallet.fromSeed('whole node test/carol');
  const ask = (method: string, path: string, nonce: string, change: object = {}) =>
    send(node, method, path, {
      ...level1('SERVICE', carol, CHAIN_ID, seconds(), nonce),
      ...change,
    });
  const unknown = await ask('GET', '/auth/derive-api-key', '7');
  assert.deepEqual(
    [unknown.status, unknown.json],
    [404, { error: 'API key not found', code: 'UNKNOWN_API_KEY' }],
  );
  const issued = await ask('POST', '/auth/api-key', '7');
  assert.equal(issued.status, 200);
  assert.deepEqual(Object.keys(issued.json as object), ['apiKey', 'secret', 'passphrase']);
  const { apiKey, passphrase, secret } = issued.json as Trader['trio'];
  assert.match(apiKey, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.match(passphrase, /^[0-9a-f]{64}$/);
  assert.match(secret, /^[A-Za-z0-9_-]{43}=$/);
  assert.deepEqual((await ask('POST', '/auth/api-key', '7')).json, issued.json);
  assert.deepEqual((await ask('GET', '/auth/derive-api-key', '7')).json, issued.json);
  assert.notDeepEqual((await ask('POST', '/auth/api-key', '8')).json, issued.json);
  const refusals: readonly (readonly [object, number, string])[] = [
    [{ SERVICE_NONCE: '' }, 401, 'invalid_l1: missing header SERVICE_NONCE'],
    [{ SERVICE_NONCE: '0x1' }, 400, 'invalid_l1: malformed header SERVICE_NONCE'],
    [{ SERVICE_SIGNATURE: '0x12' }, 400, 'invalid_l1: malformed header SERVICE_SIGNATURE'],
    [{ SERVICE_NONCE: '9' }, 401, 'invalid_l1: wrong signature'],
    [{ SERVICE_ADDRESS: bob.address }, 401, 'invalid_l1: wrong signature'],
  ];
  for (const [change, status, error] of refusals) {
    const reply = await ask('POST', '/auth/api-key', '7', change);
    assert.deepEqual(
      [reply.status, plainRefusal(reply.json)],
      [status, { error, code: refusalCode(error) }],
    );
  }
});

test('keys work after a kill and after a stop', { skip: SHORT }, async () => {
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    logs.push(node.log);
    await node.end(signal);
    node = await TestNode.start(dataDir, { LOG_LEVEL: 'debug' });
    assertTaken(await alice.postText(node, signed()));
    const again = level1('SERVICE', alice.wallet, CHAIN_ID, seconds(), '0');
    assert.deepEqual((await get(node, '/auth/derive-api-key', again)).json, alice.trio);
  }
});

function files(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('no secret and no passphrase is in the data directory or in the log', async () => {
  logs.push(node.log);
  await node.stop();
  const needles = [alice, bob].flatMap(({ trio }) => {
    const secret = Buffer.from(trio.secret, 'base64');
    const passphrase = Buffer.from(trio.passphrase, 'hex');
    return [secret, passphrase].flatMap((bytes) => [
      bytes,
      ...(['hex', 'base64', 'base64url'] as const).flatMap((form) => {
        const text = bytes.toString(form);
        // Unpadded, as a part of the padded form too; hex in both cases.
        return [text.replace(/=+$/, ''), text.toUpperCase()].map((one) => Buffer.from(one));
      }),
    ]);
  });
  const paths = files(dataDir);
  assert(paths.length >= 7, 'three environments and the key');
  const keyBytes = readFileSync(join(dataDir, 'node.key'));
  let found = 0;
  for (const path of paths) {
    const bytes = readFileSync(path);
    for (const needle of needles) assert.equal(bytes.indexOf(needle), -1, path);
    if (!path.endsWith('node.key')) assert.equal(bytes.indexOf(keyBytes), -1, path);
    if (bytes.includes(Buffer.from(alice.trio.apiKey.replaceAll('-', ''), 'hex'))) found += 1;
  }
  assert(found > 0, 'what is stored of a key would have been found like this');
  for (const needle of needles) assert.equal(Buffer.from(logs.join('')).indexOf(needle), -1);
});

test('only the owner can read the key file', () => {
  const { mode, size } = statSync(join(dataDir, 'node.key'));
  assert.equal(mode & 0o777, 0o600);
  assert.equal(size, 32);
});
