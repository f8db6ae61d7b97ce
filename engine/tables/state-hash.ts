/**
 * Hash of the content of the tables. Two engines that applied the same batches agree on it, row by row, free lists
 * included. Versions of books are left out, because they count writes.
 */

import { wordsOf } from '../book/matching.ts';
import { BOOK_I, Book, State } from './layout.ts';
import { type Tables, usedSpans } from './tables.ts';

/** 16 hex digits. */
export function stateHash(t: Tables): string {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  let n = 0;
  for (const { bytes, name, start } of usedSpans(t)) {
    const words = wordsOf(t.memory.buffers[name].subarray(start, start + bytes));
    const skipsVersions = name === 'books';
    for (let i = 0; i < words.length; i++) {
      const isVersion = skipsVersions && (i & ((1 << BOOK_I) - 1)) === Book.version;
      const word = isVersion ? 0 : words[i]!;
      a = Math.imul(a ^ word, 0x01000193);
      n = (n + 1) | 0;
      b = Math.imul(b ^ (word + n), 0x5bd1e995);
      b ^= b >>> 15;
    }
  }
  return hex(a) + hex(b);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}

export function digestOf(t: Tables): number {
  return t.state[State.digest]!;
}
