/** Ids of tokens that a file does not have: each follows from a text, so that every reading gives the same. */
import { createHash } from 'node:crypto';

/** A token id as decimal text. */
export function derivedId(text: string): string {
  return BigInt(`0x${sha256(text).toString('hex')}`).toString();
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
