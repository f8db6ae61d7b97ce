/**
 * A signer that signs nothing: for nodes with VERIFY_SIGNATURES=off, so that a run need not wait for
 * hundreds of thousands of signatures. Ids are right.
 */
import type { Signer } from '../../client/exchange.ts';

/** Formed as a signature is: r and s are 1. */
const UNSIGNED = `0x${'0'.repeat(63)}1${'0'.repeat(63)}11b`;

/** @param address checksummed */
export function unsignedBy(address: string): Signer<string> {
  return { address, sign: () => UNSIGNED };
}
