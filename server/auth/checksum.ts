/**
 * EIP-55: the letter case of an address text as its checksum.
 *
 * Thread: any; each thread has its own instance of this module and its scratch memory.
 */

import { bytesToHex } from '../common/uint256.ts';
import { keccak256 } from './keccak.ts';

const ADDRESS_BYTES = 20;
const ADDRESS_TEXT = /^0x[0-9a-fA-F]{40}$/;

const known = new Set<string>();
const KNOWN_MAX = 4_096;

const digits = Buffer.alloc(2 * ADDRESS_BYTES);

export function checksumAddress(address: Uint8Array, offset = 0): string {
  return checksumText(bytesToHex(address, offset, ADDRESS_BYTES));
}

/**
 * Accepts a 20-byte address in lower case, in upper case, or mixed as in its checksum
 * (docs/protocol.md#level-2).
 */
export function isAddressText(text: string): boolean {
  if (known.has(text)) return true;
  if (!ADDRESS_TEXT.test(text)) return false;
  const body = text.slice(2);
  const lower = body.toLowerCase();
  if (body === lower || body === body.toUpperCase()) return true;
  if (text !== checksumText(`0x${lower}`)) return false;
  if (known.size >= KNOWN_MAX) known.clear();
  known.add(text);
  return true;
}

function checksumText(lower: string): string {
  digits.write(lower.slice(2), 'latin1');
  const hash = keccak256(digits);
  for (let i = 0; i < digits.length; i++) {
    const code = digits[i]!;
    const nibble = i % 2 === 0 ? hash[i >> 1]! >> 4 : hash[i >> 1]! & 0x0f;
    if (code >= 0x61 && nibble >= 8) digits[i] = code - 0x20;
  }
  return `0x${digits.toString('latin1')}`;
}
