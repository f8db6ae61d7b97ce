/**
 * A signer that signs nothing: for nodes with VERIFY_SIGNATURES=off, so that a run need not wait for
 * hundreds of thousands of signatures. Ids are right.
 */
import type { OrderSigner } from '../../client/exchange.ts';
import { toHex } from '../../client/hashes.ts';
import { orderDigest } from '../../client/typed-data.ts';

/** Formed as a signature is: r and s are 1. */
const UNSIGNED = `0x${'0'.repeat(63)}1${'0'.repeat(63)}11b`;

/** @param address checksummed */
export function unsignedBy(address: string): OrderSigner {
  return {
    address,
    signOrder: (domain, order) => ({
      digest: `0x${toHex(orderDigest(domain, order))}`,
      signature: UNSIGNED,
    }),
  };
}
