/**
 * Known answers of docs/signing-vectors.json, for signers in other languages. They equal those of
 * the client, of ethers and of node:crypto, and a node accepts them.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { NodeClient } from '../../client/client.ts';
import { type ApiKey, level1, level2 } from '../../client/credentials.ts';
import type { OrderDomain, UnsignedOrder, UnsignedOrder2 } from '../../client/typed-data.ts';
import { Wallet } from '../../client/wallet.ts';
import {
  checkLevel1,
  checkLevel2,
  issueKey,
  level1Headers,
  level2Headers,
  openAuth,
} from '../../server/auth/auth.ts';
import { PROFILE_TABLE } from '../../server/config/profile.ts';
import {
  addressByEthers,
  depositWalletByEthers,
  typedDataByEthers,
  walletSignatureByEthers,
} from '../common/ethers.ts';
import { TestNode, temporaryDirectory } from '../common/node-harness.ts';
import { ROOT } from '../common/root.ts';
import { registryOf } from './key-stage.ts';

type Headers = Readonly<Record<string, string>>;

interface Vector {
  readonly name: string;
  readonly privateKey: string;
  readonly address: string;
  readonly level1: {
    readonly message: {
      readonly address: string;
      readonly timestamp: string;
      readonly nonce: string;
    };
    readonly digest: string;
    readonly headers: Headers;
  };
  readonly apiKey: ApiKey;
  readonly domain: OrderDomain;
  readonly type: 'order1' | 'order2';
  readonly order: UnsignedOrder | UnsignedOrder2;
  readonly digest: string;
  readonly signature: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly body: string;
    readonly headers: Headers;
  };
}

/** An order of a position; it has no request, since no market of the demo has its token. */
interface PositionVector
  extends Pick<Vector, 'name' | 'privateKey' | 'address' | 'domain' | 'digest' | 'signature'> {
  readonly order: UnsignedOrder2;
  /** Digest that the owner of a deposit wallet signs; absent: the id. */
  readonly signedDigest?: string;
}

interface Vectors {
  readonly types: Readonly<
    Record<'domain' | 'level1Domain' | 'order1' | 'order2' | 'level1' | 'walletOrder', string>
  >;
  readonly level1Domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
  };
  readonly nodeKey: string;
  readonly vectors: readonly Vector[];
  readonly positions: readonly PositionVector[];
}

const { level1Domain, nodeKey, positions, types, vectors } = JSON.parse(
  readFileSync(join(ROOT, 'docs/signing-vectors.json'), 'utf8'),
) as Vectors;
const protocol = readFileSync(join(ROOT, 'docs/protocol.md'), 'utf8');
const KEY = Buffer.from(nodeKey, 'hex');
const PREFIX = 'SERVICE';
const SKEW = 300;

function groupOf(heading: string): string {
  const [, ...groups] = protocol.split(/^###? /m);
  const found = groups.find((group) => group.startsWith(`${heading}\n`));
  assert(found !== undefined, heading);
  return found;
}

test('three vectors cover both versions, both sides and both contracts', () => {
  assert.deepEqual(
    vectors.map(({ domain, order, type }) => [type, order.side, domain.verifyingContract]),
    [
      ['order1', 0, '0xB5592f7CccA122558D2201e190826276f3a661cb'],
      ['order1', 1, '0xef02d1Ea5B42432C4E99C2785d1a4020d2FB24F5'],
      ['order2', 0, '0xE111180000d2663C0091e4f400237545B87B996B'],
    ],
  );
});

for (const vector of vectors) {
  const { address, apiKey, domain, order, privateKey, request, type } = vector;
  const wallet = new Wallet(privateKey);

  test(`${vector.name}: digest, signature and credentials are those of the client`, () => {
    assert.equal(wallet.address, address);
    const { digest, signature } = wallet.signOrder(domain, order);
    assert.deepEqual([digest, signature], [vector.digest, vector.signature]);
    const { nonce, timestamp } = vector.level1.message;
    assert.deepEqual(
      level1(PREFIX, wallet, level1Domain.chainId, timestamp, nonce),
      vector.level1.headers,
    );
    const { body, headers, method, path } = request;
    const at = headers.SERVICE_TIMESTAMP!;
    assert.deepEqual(level2(PREFIX, address, apiKey, method, path, body, at), headers);
  });

  test(`${vector.name}: ethers and node:crypto give the same values, from the texts of the types alone`, async () => {
    assert.equal(addressByEthers(privateKey), address);
    const byEthers = await typedDataByEthers(privateKey, domain, types.domain, order, types[type]);
    assert.deepEqual(byEthers, { digest: vector.digest, signature: vector.signature });
    const { digest, headers, message } = vector.level1;
    assert.deepEqual(
      await typedDataByEthers(privateKey, level1Domain, types.level1Domain, message, types.level1),
      { digest, signature: headers.SERVICE_SIGNATURE },
    );
    const { SERVICE_SIGNATURE, SERVICE_TIMESTAMP } = request.headers;
    const signed = `${SERVICE_TIMESTAMP}${request.method}${request.path}${request.body}`;
    const hmac = createHmac('sha256', Buffer.from(apiKey.secret, 'base64url'));
    assert.equal(hmac.update(signed).digest('hex'), SERVICE_SIGNATURE);
  });

  test(`${vector.name}: the server accepts both levels at their time`, async () => {
    const bytes = Buffer.from(address.slice(2), 'hex');
    const { chainId } = level1Domain;
    const { registry } = registryOf(KEY, chainId);
    const auth = openAuth(PREFIX, chainId, SKEW, registry);
    const captured = (names: readonly string[], headers: Headers): string[] =>
      names.map((name) => headers[name.toUpperCase()] ?? '');
    const proof = captured(level1Headers(PREFIX), vector.level1.headers);
    const owner = checkLevel1(auth, proof, Number(vector.level1.message.timestamp));
    assert(owner.ok);
    assert.deepEqual([owner.address, owner.nonce], [new Uint8Array(bytes), '0']);
    assert.deepEqual(JSON.parse((await issueKey(auth, owner)).body), apiKey);
    const { body, headers, method, path } = request;
    const sent = { method, path, query: '', body: Buffer.from(body), base: '' };
    const names = captured(level2Headers(PREFIX), headers);
    const caller = checkLevel2(auth, names, sent, Number(headers.SERVICE_TIMESTAMP));
    assert(caller.ok, JSON.stringify(caller));
    assert.equal(caller.apiKey, apiKey.apiKey);
  });
}

for (const {
  address,
  digest,
  domain,
  name,
  order,
  privateKey,
  signature,
  signedDigest,
} of positions) {
  test(`${name}: digest and signature are those of the client and of ethers`, async () => {
    const wallet = new Wallet(privateKey);
    assert.equal(wallet.address, address);
    assert.deepEqual(wallet.signOrder(domain, order), { digest, signature });
    const plain = await typedDataByEthers(privateKey, domain, types.domain, order, types.order2);
    assert.equal(plain.digest, digest);
    if (signedDigest === undefined) return assert.equal(plain.signature, signature);
    const ofWallet = await walletSignatureByEthers(privateKey, domain, order);
    assert.deepEqual([ofWallet.digest, ofWallet.signature], [signedDigest, signature]);
  });
}

test('the deposit wallet of the vectors is that of their owner, and has the published digests', () => {
  const { address, digest, order, signedDigest } = positions.at(-1)!;
  const { polymarket } = PROFILE_TABLE.beaconWalletFactory;
  assert.equal(depositWalletByEthers(polymarket, address).wallet, order.maker);
  assert.deepEqual(
    [digest, signedDigest],
    [
      '0x2abca3ebf9d512671fbdfd230dc74c5e4a2acc02d331952f9c3aa92177a43061',
      '0x7c7542f226a50604f9fe341e51b19ffe58af2f9a6814d644bdbef4ad5e058cb0',
    ],
  );
});

test('a node with the demo places the three bodies as they stand, under their digests', async () => {
  const dataDir = temporaryDirectory();
  writeFileSync(join(dataDir, 'node.key'), KEY, { mode: 0o600 });
  const node = await TestNode.start(dataDir, { DEMO: 'on', ORDER_VERSION: 'both' });
  for (const { apiKey, digest, name, privateKey, request } of vectors) {
    const wallet = new Wallet(privateKey);
    const client = await NodeClient.connect(`http://127.0.0.1:${node.port}`, { wallet });
    assert.deepEqual(await client.keys.create(wallet), apiKey);
    const placed = await client.orders.send({ id: digest, item: request.body });
    assert.notEqual(placed.status, 'refused', `${name}: ${placed.reason}`);
    assert.equal((await client.orders.get(digest))?.id, digest);
    client.close();
  }
  await node.stop();
});

test('the protocol shows the types and the bodies of both versions', () => {
  const blocks = (heading: string, language = ''): string[] =>
    [
      ...groupOf(heading).matchAll(new RegExp(`^ {3}\`\`\`${language}\n([^]*?)^ {3}\`\`\``, 'gm')),
    ].map(([, block = '']) => block.replaceAll(/^ {3}/gm, ''));
  const { domain, level1: auth, level1Domain: authDomain, order1, order2 } = types;
  assert.deepEqual(blocks('Typed data')[0]?.trim().split('\n'), [
    domain,
    authDomain,
    order1,
    order2,
    auth,
  ]);
  assert.deepEqual(
    blocks('Signatures of deposit wallets').map((text) => text.trim()),
    [types.walletOrder],
  );
  const [first, , third] = vectors;
  assert.deepEqual(
    blocks('Body of an order', 'json').map((text) => JSON.parse(text)),
    [first, third].map((vector) => JSON.parse(vector!.request.body)),
  );
});
