/**
 * Layout of position ids: tokens of markets of the second protocol, whose orders are signed in version 3.
 * Rules: docs/protocol.md#signing-domains
 *
 * Thread: any; each thread has its own scratch buffer.
 */
import { decimalToWords, hexToWords } from './uint256.ts';

const ID_WORDS = 8;
/** Modules: binary, neg-risk, combinatorial, directional. */
const MODULE_SHIFT = 24;
const MODULE_MAX = 4;
/** Decimal texts of the first number with the first module, and of the first behind the last one. */
const FIRST = String(1n << 248n);
const END = String(BigInt(MODULE_MAX + 1) << 248n);
/** Bits 103 to 40 are zero in every position: the end of word 4, word 5, and all of word 6 but its last byte. */
const ZEROS_4 = 0x0000_00ff;
const ZEROS_6 = 0xffff_ff00;

const words = new Int32Array(ID_WORDS);

/** @param id decimal text, or `0x` and hex digits; any other text is no position */
export function isPosition(id: string): boolean {
  if (id.startsWith('0x')) return hexToWords(id, words) && hasLayout(words);
  // One random id in fifty is between them: the digits of the others are not parsed.
  return isBetween(id) && decimalToWords(id, words, 0) && hasLayout(words);
}

/** END is one digit longer than FIRST, and texts of one length are ordered like their numbers. */
function isBetween(id: string): boolean {
  return id.length === FIRST.length ? id >= FIRST : id.length === END.length && id < END;
}

function hasLayout(id: Int32Array): boolean {
  const module = id[0]! >>> MODULE_SHIFT;
  if (module < 1 || module > MODULE_MAX) return false;
  return ((id[4]! & ZEROS_4) | id[5]! | (id[6]! & ZEROS_6)) === 0;
}
