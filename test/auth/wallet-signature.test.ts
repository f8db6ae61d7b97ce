/** Signatures of deposit wallets: known answers, those of ethers, and each part that can be wrong. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { UnsignedOrder2 } from '../../client/typed-data.ts';
import { domainSeparator, order2Digest, walletOrderDigest } from '../../server/auth/eip712.ts';
import { publishedContract3 } from '../../server/auth/exchange-domains.ts';
import { isSessionSignature, recoverOwner } from '../../server/auth/wallet-signature.ts';
import { bytesToHex } from '../../server/common/uint256.ts';
import { walletSignatureByEthers } from '../common/ethers.ts';

/** A key that everybody knows, and its deposit wallet. */
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const OWNER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const WALLET = '0xBc0fF067b7740Eff76C1ca93c875Ba6B890d6B50';
const CHAIN = 137;
const ZERO = `0x${'0'.repeat(64)}`;

const domainOf = (chainId: number) => ({
  name: 'Polymarket CTF Exchange',
  version: '3',
  chainId,
  verifyingContract: publishedContract3(chainId),
});
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
const hexOf = (bytes: Uint8Array): string => bytesToHex(bytes, 0, bytes.length);

const order: UnsignedOrder2 = {
  salt: '1',
  maker: WALLET,
  signer: WALLET,
  tokenId: String((1n << 248n) | (0x1234n << 128n)),
  makerAmount: '500000',
  takerAmount: '1000000',
  side: 0,
  signatureType: 3,
  timestamp: '1700000000000',
  metadata: ZERO,
  builder: ZERO,
};
const version2 = {
  timestamp: order.timestamp,
  metadata: bytesOf(ZERO),
  builder: bytesOf(ZERO),
};
const signedFields = {
  ...order,
  maker: bytesOf(WALLET),
  signer: bytesOf(WALLET),
  expiration: '0',
  nonce: '0',
  feeRateBps: '0',
  version2,
};
const separator = domainSeparator(domainOf(CHAIN));
const STRUCT_HASH = '0x66e6e8dc1f117327cb7595d9f2feae6d02ef53cc092926d5991285b09d18d294';

function check(
  text: string,
  changes: Partial<typeof signedFields> = {},
  { chainId = CHAIN, wallet = signedFields.maker } = {},
) {
  const recovered = new Uint8Array(20);
  const signed = { ...signedFields, ...changes };
  const contents = order2Digest(separator, signed, signed.version2, new Uint8Array(32), 0);
  const fault = recoverOwner(text, { separator, chainId, contents, wallet }, recovered);
  return { fault, recovered: hexOf(recovered) };
}

test('separators, hash, id and digest are the published ones', () => {
  assert.equal(
    hexOf(separator),
    '0x466c63910185bbd55e8679264200c4e0abdcbb0c6264eb3d41d13326022e095b',
  );
  assert.equal(
    hexOf(domainSeparator(domainOf(80_002))),
    '0xdf8b5fd204134b8d562677d7fc9346884e8f02ef2fd43358239393723e8833e6',
  );
  const id = new Uint8Array(32);
  const hash = order2Digest(separator, signedFields, version2, id, 0);
  assert.equal(hexOf(hash), STRUCT_HASH);
  assert.equal(hexOf(id), '0x2abca3ebf9d512671fbdfd230dc74c5e4a2acc02d331952f9c3aa92177a43061');
  const digest = new Uint8Array(32);
  walletOrderDigest(separator, hash, CHAIN, bytesOf(WALLET), digest);
  assert.equal(hexOf(digest), '0x7c7542f226a50604f9fe341e51b19ffe58af2f9a6814d644bdbef4ad5e058cb0');
});

test('a signature that ethers makes has the published digest and 317 bytes, and is of the owner', async () => {
  const { digest, parts, signature } = await walletSignatureByEthers(KEY, domainOf(CHAIN), order);
  assert.equal(digest, '0x7c7542f226a50604f9fe341e51b19ffe58af2f9a6814d644bdbef4ad5e058cb0');
  assert.deepEqual([signature.length, parts[2]], [636, STRUCT_HASH]);
  assert.deepEqual(check(signature), { fault: undefined, recovered: OWNER });
  assert.deepEqual(check(signature.toUpperCase().replace('0X', '0x')).fault, undefined);
});

test('each malformed part has its own fault', async () => {
  const { parts, signature } = await walletSignatureByEthers(KEY, domainOf(CHAIN), order);
  const digits = parts.map((part) => part.slice(2));
  const withPart = (at: number, text: string): string =>
    `0x${digits.map((part, i) => (i === at ? text : part)).join('')}`;
  for (const text of ['0x', '', digits[0]!, `0x${digits[0]}`, `${signature}00`, signature.slice(2)])
    assert.equal(check(text).fault, 'walletLength', text);
  assert.equal(check(`${signature.slice(0, -1)}g`).fault, 'walletLength');
  for (const end of ['00bb', '01ba', '0000'])
    assert.equal(check(withPart(4, end)).fault, 'typeLength');
  const type = digits[3]!;
  assert.equal(check(withPart(3, `00${type.slice(2)}`)).fault, 'orderType');
  assert.equal(check(withPart(3, `${type.slice(0, -2)}2a`)).fault, 'orderType');
  assert.equal(check(withPart(1, hexOf(domainSeparator(domainOf(1))).slice(2))).fault, 'separator');
  assert.equal(check(withPart(2, '0'.repeat(64))).fault, 'contents');
  assert.equal(check(signature, { takerAmount: '1000001' }).fault, 'contents');
  assert.equal(check(withPart(0, '0'.repeat(130))).fault, 'range');
  assert.equal(check(withPart(0, `${digits[0]!.slice(0, -2)}1d`)).fault, 'range');
});

test('a signature over another order, chain or wallet is of somebody else', async () => {
  const { parts, signature } = await walletSignatureByEthers(KEY, domainOf(CHAIN), order);
  const other = { ...order, salt: '2' };
  const ofOther = await walletSignatureByEthers(KEY, domainOf(CHAIN), other);
  const mixed = `${ofOther.parts[0]}${signature.slice(parts[0]!.length)}`;
  assert.equal(check(signature).recovered, OWNER);
  for (const { fault, recovered } of [
    check(mixed),
    check(signature, {}, { chainId: 80_002 }),
    check(signature, {}, { wallet: bytesOf(OWNER) }),
  ]) {
    assert.equal(fault, undefined);
    assert.notEqual(recovered, OWNER);
  }
});

test('a signature of a session key is told by its end', async () => {
  const { signature } = await walletSignatureByEthers(KEY, domainOf(CHAIN), order);
  const session = `${signature}${'6492'.repeat(16)}`;
  assert.deepEqual(
    [session, signature, '', '0x6492'].map((text) => isSessionSignature(text)),
    [true, false, false, false],
  );
  assert.equal(check(session).fault, 'session');
});
