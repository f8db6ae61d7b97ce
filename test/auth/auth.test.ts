/** Level 1 and level 2: each check, its reason, and the encodings that clients use. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test from 'node:test';
import { type ApiKey, level1, level2 } from '../../client/credentials.ts';
import { Wallet } from '../../client/wallet.ts';
import {
  type Auth,
  checkLevel1,
  checkLevel2,
  deriveKey,
  issueKey,
  level1Headers,
  level2Headers,
  openAuth,
  type WalletOwner,
} from '../../server/auth/auth.ts';
import type { AuthRefused } from '../../server/auth/auth-refusals.ts';
import type { KeyRegistry } from '../../server/auth/key-registry.ts';
import type { KeyRow } from '../../storage/control-records/control-records.ts';
import { plainRefusal } from '../common/refused.ts';
import { registryOf } from './key-stage.ts';

const NOW = 1_700_000_000;
const CHAIN = 137;
const SKEW = 300;
const BODY = '[{"order": {}}]';
const wallet = Wallet.fromSeed('auth test');
const stranger = Wallet.fromSeed('somebody else');

function auth(prefix = 'SERVICE', rows: KeyRow[] = [], mayWrite?: () => Promise<void>): Auth {
  const { registry } = registryOf(Buffer.alloc(32, 3), CHAIN, rows, mayWrite);
  return openAuth(prefix, CHAIN, SKEW, registry);
}

/** Header values in capture order, as the HTTP layer delivers them. */
function captured(names: readonly string[], headers: Record<string, string>): string[] {
  const lower = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return names.map((name) => lower.get(name) ?? '');
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly body?: string;
  readonly now?: number;
}

function requestOf({ body = '', method = 'POST', path = '/orders', query = '' }: Sent) {
  return { method, path, query, body: Buffer.from(body), base: '' };
}

/** A request signed by the wallet for POST /orders; the checked one may differ from the signed. */
function check(on: Auth, trio: ApiKey, sent: Sent = {}, timestamp = String(NOW)) {
  const headers = level2('SERVICE', wallet.address, trio, 'POST', '/orders', BODY, timestamp);
  return plain(
    checkLevel2(
      on,
      captured(level2Headers('SERVICE'), { ...headers, ...sent.headers }),
      requestOf({ body: BODY, ...sent }),
      sent.now ?? NOW,
    ),
  );
}

function plain<T extends object>(checked: T | AuthRefused): T | AuthRefused {
  if (!('body' in checked)) return checked;
  return { ...checked, body: JSON.stringify(plainRefusal(JSON.parse(String(checked.body)))) };
}

function refused2(reason: string) {
  return {
    ok: false,
    status: 401,
    body: JSON.stringify({ error: `invalid_l2: ${reason}`, code: 'INVALID_L2' }),
  };
}

function sign(trio: ApiKey, text: string): Buffer {
  return createHmac('sha256', Buffer.from(trio.secret, 'base64')).update(text).digest();
}

function owner(on: Auth, headers: string[]): WalletOwner {
  const checked = checkLevel1(on, headers, NOW);
  assert(checked.ok);
  return checked;
}

async function issued(on: Auth): Promise<ApiKey> {
  const headers = level1('SERVICE', wallet, CHAIN, String(NOW), '0');
  const answer = await issueKey(on, owner(on, captured(level1Headers('SERVICE'), headers)));
  assert.equal(answer.status, 200);
  return JSON.parse(answer.body) as ApiKey;
}

test('the published signing strings have the published signatures', () => {
  const on = auth();
  const secret = Buffer.alloc(32);
  const credential = {
    apiKey: '550e8400-e29b-41d4-a716-446655440000',
    apiKeyBytes: new Uint8Array(16),
    address: new Uint8Array(20),
    addressText: `0x${'0'.repeat(40)}`,
    secret,
    passphrase: Buffer.alloc(32),
  };
  const fixed = { ...on, registry: { lookup: () => credential } as unknown as KeyRegistry };
  const vectors = [
    ['POST', '/orders', '[]', '56082f2113cd8329b5aad0e501b05cef2dfae5dfacf4d254e3a968e1f88b9592'],
    ['POST', '/orders', '[]', 'VggvIRPNgym1qtDlAbBc7y365d+s9NJU46lo4fiLlZI='],
    [
      'DELETE',
      '/cancel-all',
      '',
      'f1550a2360046239b255e35f5869422a19e2f9b3932c18bc2ae7a003b443af15',
    ],
    ['DELETE', '/cancel-all', '', '8VUKI2AEYjmyVeNfWGlCKhni+bOTLBi8KuegA7RDrxU='],
    ['GET', '/data/orders', '', '9ba9464bd5b2112ec98e901835def321d5b96df1f100023fa486b54adf6f2cee'],
    ['GET', '/data/orders', '', 'm6lGS9WyES7JjpAYNd7zIdW5bfHxAAI/pIa1St9vLO4='],
  ] as const;
  const { addressText, apiKey } = credential;
  for (const [method, path, body, signature] of vectors) {
    const headers = [addressText, apiKey, '0'.repeat(64), String(NOW), signature];
    const checked = checkLevel2(fixed, headers, requestOf({ method, path, body }), NOW);
    assert.equal(checked.ok, true, `${method} ${path} ${signature}`);
  }
});

test('a signed request names its caller', async () => {
  const on = auth();
  const trio = await issued(on);
  const checked = check(on, trio);
  assert.ok(checked.ok);
  assert.equal(checked.apiKey, trio.apiKey);
  assert.equal(Buffer.from(checked.apiKeyBytes).toString('hex'), trio.apiKey.replaceAll('-', ''));
  assert.equal(Buffer.from(checked.address).toString('hex'), wallet.address.slice(2).toLowerCase());
});

test('hex in either case, base64url and base64, padded or not, are one signature', async () => {
  const on = auth();
  const trio = await issued(on);
  // A timestamp is looked for whose signature tells the two base64 alphabets apart.
  let timestamp = NOW;
  let mac = sign(trio, `${timestamp}POST/orders${BODY}`);
  while (!/[+/]/.test(mac.toString('base64'))) {
    timestamp++;
    mac = sign(trio, `${timestamp}POST/orders${BODY}`);
  }
  const padded = mac.toString('base64');
  for (const signature of [
    mac.toString('hex'),
    mac.toString('hex').toUpperCase(),
    padded,
    padded.slice(0, -1),
    mac.toString('base64url'),
    `${mac.toString('base64url')}=`,
  ]) {
    const headers = { SERVICE_SIGNATURE: signature };
    const checked = check(on, trio, { headers, now: timestamp }, String(timestamp));
    assert.equal(checked.ok, true, signature);
  }
});

test('the raw bytes are signed: spacing passes, any flipped byte fails', async () => {
  const on = auth();
  const trio = await issued(on);
  for (let i = 0; i < BODY.length; i++) {
    const changed = Buffer.from(BODY);
    changed[i]! ^= 1;
    const checked = check(on, trio, { body: changed.toString('latin1') });
    assert.deepEqual(checked, refused2('wrong signature'));
  }
  const odd = ' [ {"order":\n{ "\\u0061" : "é" } } ] ';
  const headers = { SERVICE_SIGNATURE: sign(trio, `${NOW}POST/orders${odd}`).toString('hex') };
  assert.equal(check(on, trio, { headers, body: odd }).ok, true);
  assert.deepEqual(check(on, trio, { body: '' }), refused2('wrong signature'));
});

test('a signature covers method and path', async () => {
  const on = auth();
  const trio = await issued(on);
  assert.equal(check(on, trio, { method: 'post' }).ok, true);
  assert.deepEqual(check(on, trio, { method: 'DELETE' }), refused2('wrong signature'));
  assert.deepEqual(check(on, trio, { path: '/order' }), refused2('wrong signature'));
});

test('a signature may cover the query string or leave it out, but not another one', async () => {
  const on = auth();
  const trio = await issued(on);
  const query = 'market=0xab&limit=5';
  assert.equal(check(on, trio, { query }).ok, true);
  const signed = (text: string) => ({
    SERVICE_SIGNATURE: sign(trio, `${NOW}POST/orders${text}${BODY}`).toString('hex'),
  });
  assert.equal(check(on, trio, { query, headers: signed(`?${query}`) }).ok, true);
  for (const text of ['?market=0xab', '?', query]) {
    const checked = check(on, trio, { query, headers: signed(text) });
    assert.deepEqual(checked, refused2('wrong signature'));
  }
  assert.deepEqual(check(on, trio, { headers: signed('?') }), refused2('wrong signature'));
});

test('each missing header is named, the first one first', async () => {
  const on = auth();
  const trio = await issued(on);
  const names = ['ADDRESS', 'API_KEY', 'PASSPHRASE', 'TIMESTAMP', 'SIGNATURE'];
  assert.deepEqual(
    level2Headers('SERVICE'),
    names.map((name) => `service_${name.toLowerCase()}`),
  );
  for (const name of names) {
    const checked = check(on, trio, { headers: { [`SERVICE_${name}`]: '' } });
    assert.deepEqual(checked, refused2(`missing header SERVICE_${name}`));
  }
  const none = plain(checkLevel2(on, [], requestOf({}), NOW));
  assert.deepEqual(none, refused2('missing header SERVICE_ADDRESS'));
});

test('each malformed header is named', async () => {
  const on = auth();
  const trio = await issued(on);
  const address = wallet.address;
  const letter = address.slice(2).search(/[a-f]/) + 2;
  const badCase =
    address.slice(0, letter) + address[letter]!.toUpperCase() + address.slice(letter + 1);
  const malformed: [string, string[]][] = [
    ['ADDRESS', ['0x', address.slice(2), `${address}0`, address.replace(/.$/, 'g'), badCase]],
    ['API_KEY', ['x', trio.apiKey.replaceAll('-', ''), `${trio.apiKey}0`, `{${trio.apiKey}}`]],
    ['PASSPHRASE', ['x', trio.passphrase.slice(1), `${trio.passphrase}0`, 'g'.repeat(64)]],
    ['TIMESTAMP', ['now', '-1', '1700000000.5', ' ', '0x5', '1e9', '1'.repeat(17)]],
    ['SIGNATURE', ['x', 'ab'.repeat(31), 'ab'.repeat(33), '!'.repeat(43), `0x${'ab'.repeat(32)}`]],
  ];
  for (const [name, values] of malformed) {
    for (const value of values) {
      const checked = check(on, trio, { headers: { [`SERVICE_${name}`]: value } });
      assert.deepEqual(checked, refused2(`malformed header SERVICE_${name}`), value);
    }
  }
});

test('an address is accepted in lower, upper or checksummed case, key and passphrase in any case', async () => {
  const on = auth();
  const trio = await issued(on);
  const upper = `0x${wallet.address.slice(2).toUpperCase()}`;
  for (const SERVICE_ADDRESS of [wallet.address, wallet.address.toLowerCase(), upper]) {
    assert.equal(check(on, trio, { headers: { SERVICE_ADDRESS } }).ok, true);
  }
  const checked = check(on, trio, {
    headers: {
      SERVICE_API_KEY: trio.apiKey.toUpperCase(),
      SERVICE_PASSPHRASE: trio.passphrase.toUpperCase(),
    },
  });
  assert.ok(checked.ok);
  assert.equal(checked.apiKey, trio.apiKey);
});

test('a timestamp counts up to the skew on both sides and not beyond', async () => {
  const on = auth();
  const trio = await issued(on);
  const stale = refused2(`stale timestamp, server time is ${NOW}`);
  for (const age of [0, 1, SKEW]) {
    assert.equal(check(on, trio, {}, String(NOW - age)).ok, true);
    assert.equal(check(on, trio, {}, String(NOW + age)).ok, true);
  }
  for (const timestamp of [NOW - SKEW - 1, NOW + SKEW + 1, 0, NOW * 1000]) {
    assert.deepEqual(check(on, trio, {}, String(timestamp)), stale);
  }
});

test('unknown, foreign and revoked keys and a wrong passphrase get the same refusal', async () => {
  const on = auth();
  const trio = await issued(on);
  // A node that does not lead may not know the key yet, so the one that leads decides.
  const reason = { ...refused2('unknown key or wrong passphrase'), isOfKeys: true };
  const unknown = { SERVICE_API_KEY: '550e8400-e29b-41d4-a716-446655440000' };
  const zeros = {
    ...unknown,
    SERVICE_PASSPHRASE: '0'.repeat(64),
    SERVICE_SIGNATURE: '0'.repeat(64),
  };
  for (const headers of [
    unknown,
    zeros,
    { SERVICE_ADDRESS: stranger.address },
    { SERVICE_PASSPHRASE: 'ab'.repeat(32) },
    { SERVICE_PASSPHRASE: 'ab'.repeat(32), SERVICE_SIGNATURE: 'ab'.repeat(32) },
  ]) {
    assert.deepEqual(check(on, trio, { headers }), reason);
  }
  const revokedRow = {
    id: trio.apiKey,
    address: Buffer.from(wallet.address.slice(2), 'hex'),
    nonce: '0',
    revoked: true,
    readOnly: false,
  };
  const revoked = auth('SERVICE', [revokedRow]);
  assert.deepEqual(check(revoked, trio), reason);
  const active = auth('SERVICE', [{ ...revokedRow, revoked: false }]);
  assert.equal(check(active, trio).ok, true);
});

test('the prefix of the headers is configurable and appears in the reasons', () => {
  assert.deepEqual(level1Headers('MY_X'), [
    'my_x_address',
    'my_x_signature',
    'my_x_timestamp',
    'my_x_nonce',
  ]);
  const checked = plain(checkLevel2(auth('MY_X'), [], requestOf({}), NOW));
  assert.deepEqual(checked, refused2('missing header MY_X_ADDRESS'));
});

/** Level-1 headers of the wallet, some of them replaced, in capture order. */
function first(
  change: Record<string, string> = {},
  timestamp = String(NOW),
  nonce = '0',
): string[] {
  const headers = level1('SERVICE', wallet, CHAIN, timestamp, nonce);
  return captured(level1Headers('SERVICE'), { ...headers, ...change });
}

function refused1(status: number, reason: string) {
  return {
    ok: false,
    status,
    body: JSON.stringify({ error: `invalid_l1: ${reason}`, code: 'INVALID_L1' }),
  };
}

test('a wallet’s signature names its address and nonce', () => {
  const checked = checkLevel1(auth(), first({}, String(NOW), '23'), NOW);
  assert.ok(checked.ok);
  assert.equal(Buffer.from(checked.address).toString('hex'), wallet.address.slice(2).toLowerCase());
  assert.equal(checked.nonce, '23');
  const lower = first({ SERVICE_ADDRESS: wallet.address.toLowerCase() });
  assert.equal(checkLevel1(auth(), lower, NOW).ok, true);
});

test('level-1 headers that are missing answer 401, malformed ones 400', () => {
  for (const name of ['ADDRESS', 'SIGNATURE', 'TIMESTAMP', 'NONCE']) {
    const checked = plain(checkLevel1(auth(), first({ [`SERVICE_${name}`]: '' }), NOW));
    assert.deepEqual(checked, refused1(401, `missing header SERVICE_${name}`));
  }
  const malformed: [string, string[]][] = [
    ['ADDRESS', ['0x12', `${wallet.address}0`, wallet.address.replace('0x', '0X')]],
    ['SIGNATURE', ['0x', 'ab'.repeat(65), `0x${'ab'.repeat(64)}`, `0x${'zz'.repeat(65)}`]],
    ['TIMESTAMP', ['soon', '1.5', '-5']],
    ['NONCE', ['-1', '01', '0x1', (2n ** 256n).toString()]],
  ];
  for (const [name, values] of malformed) {
    for (const value of values) {
      const checked = plain(checkLevel1(auth(), first({ [`SERVICE_${name}`]: value }), NOW));
      assert.deepEqual(checked, refused1(400, `malformed header SERVICE_${name}`), value);
    }
  }
});

test('a level-1 signature over anything else is wrong', () => {
  const changes: Record<string, string>[] = [
    { SERVICE_ADDRESS: stranger.address },
    { SERVICE_NONCE: '1' },
    { SERVICE_TIMESTAMP: String(NOW + 1) },
    { SERVICE_TIMESTAMP: `0${NOW}` },
    { SERVICE_SIGNATURE: wallet.signAuth(80002, String(NOW), '0') },
    { SERVICE_SIGNATURE: stranger.signAuth(CHAIN, String(NOW), '0') },
    { SERVICE_SIGNATURE: `0x${'00'.repeat(65)}` },
  ];
  for (const change of changes) {
    assert.deepEqual(
      plain(checkLevel1(auth(), first(change), NOW)),
      refused1(401, 'wrong signature'),
    );
  }
});

test('a level-1 timestamp is fresh within the same skew', () => {
  const at = (timestamp: number) => plain(checkLevel1(auth(), first({}, String(timestamp)), NOW));
  assert.equal(at(NOW - SKEW).ok, true);
  assert.equal(at(NOW + SKEW).ok, true);
  const stale = refused1(401, `stale timestamp, server time is ${NOW}`);
  assert.deepEqual(at(NOW - SKEW - 1), stale);
  assert.deepEqual(at(NOW + SKEW + 1), stale);
});

test('issuing is idempotent, deriving finds what was issued, and the trio works', async () => {
  const on = auth();
  const notFound = { status: 404, body: '{"error":"API key not found","code":"UNKNOWN_API_KEY"}' };
  assert.deepEqual(deriveKey(on, owner(on, first())), notFound);
  const answer = await issueKey(on, owner(on, first()));
  assert.equal(answer.status, 200);
  const trio = JSON.parse(answer.body) as ApiKey;
  assert.deepEqual(Object.keys(trio), ['apiKey', 'secret', 'passphrase']);
  assert.deepEqual(await issueKey(on, owner(on, first())), answer);
  assert.deepEqual(deriveKey(on, owner(on, first())), answer);
  assert.deepEqual(deriveKey(on, owner(on, first({}, String(NOW), '1'))), notFound);
  assert.equal(check(on, trio).ok, true);
  const second = JSON.parse(
    (await issueKey(on, owner(on, first({}, String(NOW), '1')))).body,
  ) as ApiKey;
  assert.notEqual(second.apiKey, trio.apiKey);
  assert.equal(check(on, second).ok, true);
});

test('a request for a key that cannot be stored is answered 503, and the key stays unknown', async () => {
  const on = auth('SERVICE', [], () => Promise.reject(new Error('disk full')));
  const answer = await issueKey(on, owner(on, first()));
  assert.deepEqual(answer, {
    status: 503,
    body: '{"error":"journal unavailable","code":"JOURNAL_UNAVAILABLE"}',
  });
  assert.equal(deriveKey(on, owner(on, first())).status, 404);
});
