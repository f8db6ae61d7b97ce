/** Ids of tokens that a file lacks. Each follows from a text, so every reading gives the same. */
import { createHash } from 'node:crypto';

export function derivedId(text: string): string {
  return BigInt(`0x${sha256(text).toString('hex')}`).toString();
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
