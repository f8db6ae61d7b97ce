import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { deriveCredentials, openNodeKey } from '../../server/auth/credentials.ts';
import { KEYS_MAX, READ_ONLY_KEYS_MAX } from '../../server/auth/key-registry.ts';
import { ControlRecordStore } from '../../storage/control-records/control-record-store.ts';
import type { KeyRow } from '../../storage/control-records/control-records.ts';
import { registryOf } from './key-stage.ts';

const KEY = Buffer.alloc(32, 7);
const ADDRESS = new Uint8Array(20).fill(0xab);
const OTHER = new Uint8Array(20).fill(0xcd);

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'credentials-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function problemOf(path: string): string {
  const opened = openNodeKey(path);
  assert.ok(!opened.ok);
  return opened.problem;
}

/** A registry whose writes the test delays or fails. */
function heldRegistry() {
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const held = () =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ resolve, reject });
    });
  return { ...registryOf(KEY, 137, [], held), waiting };
}

test('a node key is created once, readable by its owner only, and stays', (context) => {
  const path = folder(context);
  const first = openNodeKey(path);
  assert.ok(first.ok);
  assert.equal(first.key.length, 32);
  assert.equal(statSync(join(path, 'node.key')).mode & 0o777, 0o600);
  assert.deepEqual(readFileSync(join(path, 'node.key')), first.key);
  assert.deepEqual(readdirSync(path), ['node.key'], 'no draft is left behind');
  const again = openNodeKey(path);
  assert.ok(again.ok);
  assert.deepEqual(again.key, first.key);
  const elsewhere = openNodeKey(folder(context));
  assert.ok(elsewhere.ok);
  assert.notDeepEqual(elsewhere.key, first.key);
});

test('a umask cannot widen or cripple the mode of the key', (context) => {
  for (const mask of [0o000, 0o777]) {
    const path = folder(context);
    const before = process.umask(mask);
    try {
      assert.ok(openNodeKey(path).ok);
    } finally {
      process.umask(before);
    }
    assert.equal(statSync(join(path, 'node.key')).mode & 0o777, 0o600);
  }
});

test('a draft left by a crash is replaced', (context) => {
  const path = folder(context);
  writeFileSync(join(path, 'node.key.new'), 'short', { mode: 0o644 });
  assert.ok(openNodeKey(path).ok);
  assert.equal(existsSync(join(path, 'node.key.new')), false);
});

test('a key that others may read is refused, and left as it is', (context) => {
  const path = folder(context);
  assert.ok(openNodeKey(path).ok);
  const file = join(path, 'node.key');
  const bytes = readFileSync(file);
  for (const mode of [0o640, 0o604, 0o620, 0o601]) {
    chmodSync(file, mode);
    assert.match(
      problemOf(path),
      new RegExp(`node.key: mode is 0${mode.toString(8)}, must be 0600`),
    );
  }
  chmodSync(file, 0o400);
  assert.ok(openNodeKey(path).ok, 'a narrower mode is fine');
  assert.deepEqual(readFileSync(file), bytes);
});

test('a key of another length is refused', (context) => {
  const path = folder(context);
  for (const length of [0, 31, 33]) {
    writeFileSync(join(path, 'node.key'), Buffer.alloc(length), { mode: 0o600 });
    assert.match(problemOf(path), new RegExp(`node.key: ${length} bytes, must be 32`));
  }
});

test('a missing directory is reported as a problem, not an exception', (context) => {
  assert.match(problemOf(join(folder(context), 'absent')), /node\.key: cannot be created: ENOENT/);
});

test('a trio has the documented form and depends on key, chain, address and nonce', () => {
  const trio = deriveCredentials(KEY, 137, ADDRESS, '0');
  assert.match(
    trio.apiKey,
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  assert.match(trio.passphrase, /^[0-9a-f]{64}$/);
  assert.match(trio.secret, /^[A-Za-z0-9_-]{43}=$/);
  assert.equal(Buffer.from(trio.secret, 'base64url').length, 32);
  assert.deepEqual(deriveCredentials(KEY, 137, ADDRESS, '0'), trio);
  const others = [
    deriveCredentials(Buffer.alloc(32, 8), 137, ADDRESS, '0'),
    deriveCredentials(KEY, 13, ADDRESS, '70'),
    deriveCredentials(KEY, 80002, ADDRESS, '0'),
    deriveCredentials(KEY, 137, OTHER, '0'),
    deriveCredentials(KEY, 137, ADDRESS, '1'),
  ];
  for (const member of ['apiKey', 'secret', 'passphrase'] as const) {
    const values = new Set([trio, ...others].map((each) => each[member]));
    assert.equal(values.size, others.length + 1, member);
  }
  const secret = Buffer.from(trio.secret, 'base64url').toString('hex');
  assert.notEqual(secret, trio.passphrase);
  assert.notEqual(secret.slice(0, 8), trio.apiKey.slice(0, 8));
});

test('a secret never leaves the base64url alphabet', () => {
  for (let nonce = 0; nonce < 200; nonce++) {
    const { secret } = deriveCredentials(KEY, 137, ADDRESS, String(nonce));
    assert.match(secret, /^[A-Za-z0-9_-]{43}=$/);
  }
});

test('a key is found after it was issued, and not before', async () => {
  const { registry } = registryOf(KEY, 137);
  assert.equal(registry.derive(ADDRESS, '0'), undefined);
  const trio = await registry.create(ADDRESS, '0');
  assert.deepEqual(registry.derive(ADDRESS, '0'), trio);
  assert.equal(registry.derive(ADDRESS, '1'), undefined);
  const found = registry.lookup(trio.apiKey);
  assert.ok(found);
  assert.equal(found.apiKey, trio.apiKey);
  assert.equal(Buffer.from(found.apiKeyBytes).toString('hex'), trio.apiKey.replaceAll('-', ''));
  assert.deepEqual(found.address, ADDRESS);
  assert.equal(found.addressText, `0x${'ab'.repeat(20)}`);
  assert.deepEqual(found.secret, Buffer.from(trio.secret, 'base64url'));
  assert.equal(found.passphrase.toString('hex'), trio.passphrase);
  assert.equal(registry.lookup(trio.apiKey), found, 'computed once');
  assert.equal(registry.lookup('00000000-0000-4000-8000-000000000000'), undefined);
});

test('a key is given out only when it is durable, to everybody who asked', async () => {
  const { registry, waiting, written } = heldRegistry();
  const answers: string[] = [];
  const first = registry.create(ADDRESS, '0').then((trio) => answers.push(trio.apiKey));
  const second = registry.create(ADDRESS, '0').then((trio) => answers.push(trio.apiKey));
  await new Promise(setImmediate);
  assert.equal(written.length, 1, 'one write for two requests');
  assert.deepEqual(answers, []);
  const { apiKey } = deriveCredentials(KEY, 137, ADDRESS, '0');
  assert.equal(registry.lookup(apiKey), undefined);
  waiting[0]!.resolve();
  await Promise.all([first, second]);
  assert.deepEqual(answers, [apiKey, apiKey]);
  assert.deepEqual(written, [
    { id: apiKey, address: ADDRESS, nonce: '0', revoked: false, readOnly: false },
  ]);
  await registry.create(ADDRESS, '0');
  assert.equal(written.length, 1, 'a known key is not written again');
});

test('a key that cannot be written is not issued, and may be asked for again', async () => {
  const { registry, waiting } = heldRegistry();
  const failed = registry.create(ADDRESS, '0');
  waiting[0]!.reject(new Error('disk full'));
  await assert.rejects(failed, /disk full/);
  assert.equal(registry.derive(ADDRESS, '0'), undefined);
  const retried = registry.create(ADDRESS, '0');
  waiting[1]!.resolve();
  const trio = await retried;
  assert.deepEqual(registry.derive(ADDRESS, '0'), trio);
});

test('a revoked key is unknown until it is issued again', async () => {
  const { apiKey } = deriveCredentials(KEY, 137, ADDRESS, '5');
  const revoked = { id: apiKey, address: ADDRESS, nonce: '5', revoked: true, readOnly: false };
  const { registry } = registryOf(KEY, 137, [revoked]);
  assert.equal(registry.lookup(apiKey), undefined);
  assert.equal(registry.derive(ADDRESS, '5'), undefined);
  assert.equal((await registry.create(ADDRESS, '5')).apiKey, apiKey);
  assert.equal(registry.lookup(apiKey)?.apiKey, apiKey);
});

test('the caller’s address buffer may be reused after a key was issued', async () => {
  const buffer = new Uint8Array(ADDRESS);
  const { registry } = registryOf(KEY, 137);
  const { apiKey } = await registry.create(buffer, '0');
  buffer.fill(0);
  assert.deepEqual(registry.lookup(apiKey)?.address, ADDRESS);
});

test('stored keys of another node key or chain id are refused', () => {
  const { apiKey } = deriveCredentials(KEY, 137, ADDRESS, '0');
  const rows = [{ id: apiKey, address: ADDRESS, nonce: '0', revoked: false, readOnly: false }];
  assert.equal(registryOf(KEY, 137, rows).registry.matchesStore, true);
  assert.equal(registryOf(KEY, 1, rows).registry.matchesStore, false);
  assert.equal(registryOf(Buffer.alloc(32), 137, rows).registry.matchesStore, false);
  assert.equal(registryOf(KEY, 137).registry.matchesStore, true);
});

test('keys survive a restart, and the data directory hides their secrets', async (context) => {
  const path = folder(context);
  const nodeKey = randomBytes(32);
  const { registry, written } = registryOf(nodeKey, 137);
  const longest = (2n ** 256n - 1n).toString();
  const trios = await Promise.all([
    registry.create(ADDRESS, '0'),
    registry.create(ADDRESS, longest),
    registry.create(OTHER, '1'),
  ]);
  assert.equal(await registry.revoke(OTHER, trios[2].apiKey), true);
  const before = new ControlRecordStore(path, { durability: 'flushed', readOnly: false });
  const position = { sequence: 1, digest: 1 };
  before.apply(
    written.map((row) => ({ about: 'key', row })),
    position,
  );
  await before.close();

  const after = new ControlRecordStore(path, { durability: 'flushed', readOnly: false });
  const rows = [...after.keyRows()];
  const { registry: restarted } = registryOf(nodeKey, 137, rows);
  assert.equal(rows.length, 3);
  assert.deepEqual(after.position(), position);
  assert.deepEqual(restarted.derive(ADDRESS, '0'), trios[0]);
  assert.deepEqual(restarted.derive(ADDRESS, longest), trios[1]);
  assert.equal(restarted.derive(OTHER, '1'), undefined, 'revoked');
  assert.equal(
    restarted.lookup(trios[1].apiKey)?.secret.toString('base64url'),
    trios[1].secret.slice(0, 43),
  );
  await after.close();

  const stored = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  const holds = (bytes: Buffer) => stored.some((file) => file.includes(bytes));
  assert.ok(holds(Buffer.from(ADDRESS)), 'the search finds what is there');
  for (const { secret, passphrase } of trios) {
    const forms = [Buffer.from(secret), Buffer.from(secret, 'base64url'), Buffer.from(passphrase)];
    for (const form of [...forms, Buffer.from(passphrase, 'hex')]) assert.equal(holds(form), false);
  }
});

test('an address has a bounded number of API keys, and may always ask for those that it has', async () => {
  const stored: KeyRow[] = [];
  let isHeld = true;
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { registry } = registryOf(randomBytes(32), 137, [], async (row) => {
    if (isHeld) await gate;
    stored.push(row);
  });
  const coming = Array.from({ length: KEYS_MAX }, (_, i) => registry.create(ADDRESS, String(i)));
  const over = String(KEYS_MAX);
  assert.equal(registry.mayHave(ADDRESS, over), false, 'those on their way count');
  assert.equal(registry.mayHave(ADDRESS, '7'), true);
  assert.equal(registry.mayHave(OTHER, over), true, 'others are not meant');
  isHeld = false;
  release();
  const trios = await Promise.all(coming);
  assert.equal(stored.length, KEYS_MAX);
  assert.equal(await registry.revoke(ADDRESS, trios[3]!.apiKey), true);
  assert.equal(registry.mayHave(ADDRESS, over), false, 'a revoked one is kept');
  assert.equal(registry.mayHave(ADDRESS, '3'), true, 'and comes back when it is asked for');
});

test('the data directory hides read-only keys, and an address has a bounded number of them', async (context) => {
  const path = folder(context);
  const nodeKey = randomBytes(32);
  const { registry, written } = registryOf(nodeKey, 137);
  const keys: string[] = [];
  for (let i = 0; i < READ_ONLY_KEYS_MAX; i++) {
    const key = await registry.createReadOnly(ADDRESS);
    assert(key !== undefined);
    keys.push(key);
  }
  assert.equal(new Set(keys).size, READ_ONLY_KEYS_MAX);
  assert.equal(await registry.createReadOnly(ADDRESS), undefined);
  const together = Array.from({ length: READ_ONLY_KEYS_MAX + 1 }, () =>
    registry.createReadOnly(OTHER),
  );
  const refused = (await Promise.all(together)).filter((key) => key === undefined);
  assert.equal(refused.length, 1, 'those on their way count');
  assert.equal(await registry.revokeReadOnly(ADDRESS, keys[5]!), true);
  assert.notEqual(await registry.createReadOnly(ADDRESS), undefined, 'room for another');
  assert.deepEqual(registry.apiKeysOf(ADDRESS), []);
  assert.equal(registry.lookup(keys[0]!), undefined, 'no API key');
  const kept = new ControlRecordStore(path, { durability: 'committed', readOnly: false });
  kept.apply(
    written.map((row) => ({ about: 'key', row })),
    { sequence: 1, digest: 1 },
  );
  await kept.close();
  const stored = readFileSync(join(path, 'keys', 'data.mdb'));
  for (const key of keys) {
    assert(!stored.includes(key) && !stored.includes(Buffer.from(key.replaceAll('-', ''), 'hex')));
  }
});
