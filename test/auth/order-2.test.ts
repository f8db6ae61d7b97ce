import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { domainSeparator, order2Digest } from '../../server/auth/eip712.ts';
import { bytesToHex } from '../../server/common/uint256.ts';
import { order2DigestByEthers } from '../common/ethers.ts';
import { rounds } from '../common/random.ts';

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const hex = (array: Uint8Array): string => `0x${Buffer.from(array).toString('hex')}`;

const anyOrder = fc.record({
  salt: uint256,
  maker: bytes(20),
  signer: bytes(20),
  tokenId: uint256,
  makerAmount: uint256,
  takerAmount: uint256,
  side: fc.constantFrom(0 as const, 1 as const),
  signatureType: fc.integer({ min: 0, max: 3 }),
});
const anyOwn = fc.record({ timestamp: uint256, metadata: bytes(32), builder: bytes(32) });
const anyDomain = fc.record({
  name: fc.string(),
  version: fc.constantFrom('1', '2'),
  chainId: fc.maxSafeNat(),
  verifyingContract: bytes(20).map(hex),
});

test('random orders of version 2 have the digest that ethers gives them', () => {
  const out = new Uint8Array(40);
  fc.assert(
    fc.property(anyDomain, anyOrder, anyOwn, (domain, order, own) => {
      order2Digest(domainSeparator(domain), order, own, out, 5);
      const expected = order2DigestByEthers(domain, {
        ...order,
        maker: hex(order.maker),
        signer: hex(order.signer),
        timestamp: own.timestamp,
        metadata: hex(own.metadata),
        builder: hex(own.builder),
      });
      assert.equal(bytesToHex(out, 5, 32), expected);
    }),
    { numRuns: rounds(200) },
  );
});
