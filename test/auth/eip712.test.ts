import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import type { OrderDomain, UnsignedOrder } from '../../client/typed-data.ts';
import { Wallet } from '../../client/wallet.ts';
import { checksumAddress, isAddressText } from '../../server/auth/checksum.ts';
import {
  authDigest,
  authSeparator,
  domainSeparator,
  orderDigest,
  type SignedFields,
} from '../../server/auth/eip712.ts';
import { recoverAddress, SLOW_LIBRARY, signatureLibrary } from '../../server/auth/secp256k1.ts';
import { bytesToHex, hexToBytes } from '../../server/common/uint256.ts';
import { anyText } from '../common/any-text.ts';
import {
  authDigestByEthers,
  orderDigestByEthers,
  recoverByEthers,
  signTypedDataByEthers,
} from '../common/ethers.ts';
import { scriptArgs } from '../common/forms.ts';
import { rounds } from '../common/random.ts';

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const ZERO = `0x${'0'.repeat(40)}`;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const ORDER: UnsignedOrder = {
  salt: '123456789',
  maker: ADDRESS,
  signer: ADDRESS,
  taker: ZERO,
  tokenId: '71321045679252212594626385532706912750332728571942532289631379312455583992563',
  makerAmount: '50000000',
  takerAmount: '100000000',
  expiration: '0',
  nonce: '0',
  feeRateBps: '0',
  side: 0,
  signatureType: 0,
};
const ORDER_SIGNATURE =
  '0xce1688a62ede60afb43c50e32b40a0ecef4e945904ccfd1eb642033c32d0bdc3' +
  '6e9c0d9319dcb1bfde4844156e2c162750efc8d5ecbaea71d08200b70cc8bdca1b';

function bytes(hex: string): Uint8Array {
  const out = new Uint8Array(hex.length / 2 - 1);
  assert.equal(hexToBytes(hex, out.length, out, 0), true);
  return out;
}

function domain(contract: string, name = 'CTF Exchange'): OrderDomain {
  return { name, version: '1', chainId: 137, verifyingContract: contract };
}

function contract(last: number): string {
  return `0x${last.toString(16).padStart(40, '0')}`;
}

function fields(order: UnsignedOrder): SignedFields {
  const { maker, signer, taker } = order;
  return { ...order, maker: bytes(maker), signer: bytes(signer), taker: bytes(taker) };
}

function digestOf(of: OrderDomain, order: UnsignedOrder): string {
  const out = new Uint8Array(40);
  orderDigest(domainSeparator(of), fields(order), out, 5);
  assert.ok(out.subarray(0, 5).every((byte) => byte === 0) && out[37] === 0);
  return bytesToHex(out, 5, 32);
}

function signerOf(digest: string, signature: string): string | undefined {
  const out = new Uint8Array(22);
  if (!recoverAddress(bytes(digest), bytes(signature), out, 1)) {
    assert.ok(
      out.every((byte) => byte === 0),
      'a refused signature writes nothing',
    );
    return undefined;
  }
  return checksumAddress(out, 1);
}

const uint256Text = fc
  .tuple(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 256 }))
  .map(([value, shift]) => (value >> BigInt(shift)).toString());
const addressText = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((array) => `0x${Buffer.from(array).toString('hex')}`);
const anyOrder: fc.Arbitrary<UnsignedOrder> = fc.record({
  salt: uint256Text,
  maker: addressText,
  signer: addressText,
  taker: addressText,
  tokenId: uint256Text,
  makerAmount: uint256Text,
  takerAmount: uint256Text,
  expiration: uint256Text,
  nonce: uint256Text,
  feeRateBps: uint256Text,
  side: fc.constantFrom(0 as const, 1 as const),
  signatureType: fc.integer({ min: 0, max: 3 }),
});
const anyDomain: fc.Arbitrary<OrderDomain> = fc.record({
  name: anyText,
  version: fc.string(),
  chainId: fc.maxSafeNat(),
  verifyingContract: addressText,
});

test('a native library recovers signers on this machine', (context) => {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    context.skip('prebuilt bindings are expected on Linux x64 only');
    return;
  }
  assert.notEqual(signatureLibrary, SLOW_LIBRARY);
});

test('the published order vectors are reproduced', () => {
  const published: UnsignedOrder = {
    ...ORDER,
    salt: '1',
    maker: `0x${'11'.repeat(20)}`,
    signer: `0x${'11'.repeat(20)}`,
    tokenId: '101',
    makerAmount: '1000000',
    takerAmount: '2000000',
    nonce: '2',
  };
  assert.equal(
    digestOf(domain(contract(1), 'Polymarket CTF Exchange'), published),
    '0xeb162c6cc7aa28ad096a7c40fb9556d41fa1730d71103ba7103589ae1f18d942',
  );
  assert.equal(
    digestOf(domain(contract(1)), published),
    '0x93c39cf3c476ce0e7ea353f13497f12d95e99a635f1943a6ee906ef611131528',
  );
});

test('separator, id, signature and signer of the reference order are reproduced', () => {
  assert.equal(
    bytesToHex(domainSeparator(domain(contract(1))), 0, 32),
    '0x5027e91aa2bed2594b752ec7b26fee330ba17e36647849b381031786e15c7d03',
  );
  const id = digestOf(domain(contract(1)), ORDER);
  assert.equal(id, '0x4f5b82d221099039c2653d84853b86c2379b4f3e6f1fba401312ad6c0cc1c96a');
  assert.equal(
    digestOf(domain(contract(2)), ORDER),
    '0xfb7f09b781478874d9a9145035e4c7daca9b1e74e9f5cc0b54f19fa1e08506ea',
  );
  assert.equal(signerOf(id, ORDER_SIGNATURE), ADDRESS);
  assert.equal(new Wallet(KEY).signOrder(domain(contract(1)), ORDER).signature, ORDER_SIGNATURE);
});

test('the level-1 vectors are reproduced', () => {
  const out = new Uint8Array(33);
  const cases = [
    {
      chainId: 80002,
      timestamp: '10000000',
      nonce: '23',
      digest: authDigestByEthers(80002, ADDRESS, '10000000', '23'),
      signature:
        '0xf62319a987514da40e57e2f4d7529f7bac38f0355bd88bb5adbb3768d80de6c1' +
        '682518e0af677d5260366425f4361e7b70c25ae232aff0ab2331e2b164a1aedc1b',
    },
    {
      chainId: 137,
      timestamp: '1700000000',
      nonce: '0',
      digest: '0xc85352894b3c41f3ea6152479d64b9233fbaf2de87eabc7e4bba3a161fd28493',
      signature:
        '0x659ed4b28ae28e0f038fdf0023c00863c9559caacb9ebc83f44eea87059a099a' +
        '36f1e1dee110e7faa1c4f65d17489b2da1333ebef78bbe2116d81207b975052d1c',
    },
  ];
  for (const { chainId, timestamp, nonce, digest, signature } of cases) {
    authDigest(authSeparator(chainId), bytes(ADDRESS), timestamp, nonce, out, 1);
    assert.equal(bytesToHex(out, 1, 32), digest);
    assert.equal(signerOf(digest, signature), ADDRESS);
    assert.equal(new Wallet(KEY).signAuth(chainId, timestamp, nonce), signature);
  }
});

test('random orders under random domains have the digest that ethers gives them', () => {
  fc.assert(
    fc.property(anyDomain, anyOrder, (of, order) => {
      assert.equal(digestOf(of, order), orderDigestByEthers(of, order));
    }),
    { numRuns: rounds(300) },
  );
});

test('random level-1 requests have the digest that ethers gives them', () => {
  const out = new Uint8Array(32);
  fc.assert(
    fc.property(
      fc.maxSafeNat(),
      addressText,
      fc.string(),
      uint256Text,
      (chainId, address, timestamp, nonce) => {
        authDigest(authSeparator(chainId), bytes(address), timestamp, nonce, out, 0);
        const expected = authDigestByEthers(chainId, address, timestamp, nonce);
        assert.equal(bytesToHex(out, 0, 32), expected);
      },
    ),
    { numRuns: rounds(100) },
  );
});

test('the signer of a random order is recovered as ethers recovers it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), anyOrder, fc.boolean(), async (seed, order, smallV) => {
      const wallet = Wallet.fromSeed(seed);
      const { signature } = wallet.signOrder(domain(contract(7)), order);
      const digest = digestOf(domain(contract(7)), order);
      assert.equal(recoverByEthers(digest, signature), wallet.address);
      const v = Number.parseInt(signature.slice(-2), 16) - 27;
      const sent = smallV ? `${signature.slice(0, -2)}0${v}` : signature;
      assert.equal(signerOf(digest, sent), wallet.address);
      const byWallet = await signTypedDataByEthers(KEY, domain(contract(7)), order);
      assert.equal(signerOf(digest, byWallet), ADDRESS);
      assert.equal(new Wallet(KEY).signOrder(domain(contract(7)), order).signature, byWallet);
    }),
    { numRuns: rounds(40) },
  );
});

test('a changed field or another contract recovers another signer', () => {
  const id = digestOf(domain(contract(1)), ORDER);
  const changes: Partial<UnsignedOrder>[] = [
    { salt: '123456788' },
    { maker: contract(9) },
    { signer: contract(9) },
    { taker: contract(9) },
    { tokenId: '1' },
    { makerAmount: '50000001' },
    { takerAmount: '100000001' },
    { expiration: '1' },
    { nonce: '1' },
    { feeRateBps: '1' },
    { side: 1 },
    { signatureType: 1 },
  ];
  assert.equal(changes.length, Object.keys(ORDER).length, 'every signed field is tried');
  for (const change of changes) {
    const other = digestOf(domain(contract(1)), { ...ORDER, ...change });
    assert.notEqual(other, id);
    assert.notEqual(signerOf(other, ORDER_SIGNATURE), ADDRESS);
  }
  const elsewhere = digestOf(domain(contract(2)), ORDER);
  assert.notEqual(signerOf(elsewhere, ORDER_SIGNATURE), ADDRESS);
});

test('a flipped bit anywhere in the signature never yields the signer', () => {
  const id = digestOf(domain(contract(1)), ORDER);
  for (let bit = 0; bit < 65 * 8; bit++) {
    const changed = bytes(ORDER_SIGNATURE);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.notEqual(signerOf(id, bytesToHex(changed, 0, 65)), ADDRESS, `bit ${bit}`);
  }
});

test('only v 0, 1, 27 and 28 are accepted, and only 65 bytes', () => {
  const id = digestOf(domain(contract(1)), ORDER);
  const accepted: number[] = [];
  for (let v = 0; v < 256; v++) {
    const changed = bytes(ORDER_SIGNATURE);
    changed[64] = v;
    if (signerOf(id, bytesToHex(changed, 0, 65)) !== undefined) accepted.push(v);
  }
  assert.deepEqual(accepted, [0, 1, 27, 28]);
  assert.equal(signerOf(id, ORDER_SIGNATURE.slice(0, -2)), undefined);
  assert.equal(signerOf(id, `${ORDER_SIGNATURE}00`), undefined);
  assert.equal(signerOf(id, '0x'), undefined);
});

test('the high twin of a signature is refused, though it names the same signer', () => {
  const id = digestOf(domain(contract(1)), ORDER);
  const s = BigInt(`0x${ORDER_SIGNATURE.slice(66, 130)}`);
  const high = (CURVE_ORDER - s).toString(16).padStart(64, '0');
  const twin = `${ORDER_SIGNATURE.slice(0, 66)}${high}1c`;
  assert.equal(signerOf(id, twin), undefined);
  const half = CURVE_ORDER / 2n;
  const withS = (value: bigint) =>
    signerOf(id, `${ORDER_SIGNATURE.slice(0, 66)}${value.toString(16).padStart(64, '0')}1b`);
  assert.notEqual(withS(half), undefined, 's = n/2 is still low');
  assert.equal(withS(half + 1n), undefined);
});

test('r or s of zero or beyond the curve order is refused without throwing', () => {
  const id = digestOf(domain(contract(1)), ORDER);
  const zero = '0'.repeat(64);
  const order = CURVE_ORDER.toString(16);
  const r = ORDER_SIGNATURE.slice(2, 66);
  const s = ORDER_SIGNATURE.slice(66, 130);
  for (const [left, right] of [
    [zero, s],
    [r, zero],
    [zero, zero],
    [order, s],
    ['f'.repeat(64), s],
    [r, order],
    [r, 'f'.repeat(64)],
  ]) {
    assert.equal(signerOf(id, `0x${left}${right}1b`), undefined);
  }
});

test('checksummed text equals the examples of EIP-55 and the text of ethers', () => {
  for (const text of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    ...Array.from({ length: 20 }, (_, i) => Wallet.fromSeed(`checksum ${i}`).address),
  ]) {
    assert.equal(checksumAddress(bytes(text)), text);
    assert.equal(isAddressText(text), true);
    assert.equal(isAddressText(text.toLowerCase()), true);
    assert.equal(isAddressText(`0x${text.slice(2).toUpperCase()}`), true);
    const letter = text.slice(2).search(/[a-fA-F]/) + 2;
    const character = text[letter]!;
    const swapped =
      character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
    assert.equal(isAddressText(text.slice(0, letter) + swapped + text.slice(letter + 1)), false);
  }
  assert.equal(isAddressText(contract(1)), true);
  for (const text of [
    '',
    '0x',
    ADDRESS.slice(2),
    `${ADDRESS}0`,
    ADDRESS.slice(0, -1),
    `0X${ADDRESS.slice(2)}`,
  ]) {
    assert.equal(isAddressText(text), false, text);
  }
});

test('the fallback without native bindings says so and gives the same answers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fallback-'));
  try {
    const block = join(folder, 'block.cjs');
    writeFileSync(
      block,
      `const Module = require('node:module');
       const load = Module._load;
       Module._load = function (name, ...rest) {
         if (/^(node-gyp-build|koffi)$/.test(name)) throw new Error('no prebuilt here');
         return load.call(this, name, ...rest);
       };`,
    );
    const id = digestOf(domain(contract(1)), ORDER);
    const program = `
      const { recoverAddress, signatureLibrary } = await import('./server/auth/secp256k1.ts');
      const hex = (text) => Buffer.from(text.slice(2), 'hex');
      const out = new Uint8Array(20);
      const right = recoverAddress(hex('${id}'), hex('${ORDER_SIGNATURE}'), out, 0);
      const wrong = recoverAddress(hex('${id}'), new Uint8Array(65), out, 0);
      const signer = Buffer.from(out).toString('hex');
      console.log(JSON.stringify({ signatureLibrary, right, wrong, signer }));`;
    const { args, cwd } = scriptArgs(program);
    const child = spawnSync(process.execPath, ['--require', block, ...args], {
      encoding: 'utf8',
      cwd,
    });
    assert.equal(child.status, 0, child.stderr);
    assert.deepEqual(JSON.parse(child.stdout), {
      signatureLibrary: SLOW_LIBRARY,
      right: true,
      wrong: false,
      signer: ADDRESS.slice(2).toLowerCase(),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
