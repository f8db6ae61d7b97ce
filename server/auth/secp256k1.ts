/**
 * Single entry point to the package secp256k1: recovers the address that made a signature. The node signs nothing.
 *
 * Thread: any; each thread has its own instance of this module and its scratch buffers.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type * as Secp256k1 from 'secp256k1';
import { keccak256 } from './keccak.ts';

const SIGNATURE_BYTES = 65;
const ADDRESS_BYTES = 20;
/** Ethereum adds it to the recovery number of a signature. */
const V_BASE = 27;

/** n/2, big-endian. A signature with s above it has a twin (r, n - s) below, of the same order. */
const HALF_ORDER = Buffer.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0',
  'hex',
);

const loaded = load();

/** False when no prebuilt binding fits this machine: some twenty times slower. */
export const secp256k1IsNative: boolean = loaded.native;

const { ecdsaRecover } = loaded.library;

const compact = new Uint8Array(64); // r, s
const publicKey = new Uint8Array(65); // 0x04, x, y
const point = publicKey.subarray(1);

/**
 * Writes the 20-byte address that signed `digest` to `out` from `offset`.
 *
 * @param signature 65 bytes: r, s, v (docs/protocol.md#signatures)
 * @returns false, with `out` untouched, when no address can have made the signature
 */
export function recoverAddress(
  digest: Uint8Array,
  signature: Uint8Array,
  out: Uint8Array,
  offset: number,
): boolean {
  assert(digest.length === 32, 'a digest has 32 bytes');
  assert(offset + ADDRESS_BYTES <= out.length, 'an address fits its buffer');
  if (signature.length !== SIGNATURE_BYTES) return false;
  const v = signature[64]!;
  const recovery = v >= V_BASE ? v - V_BASE : v;
  if (recovery !== 0 && recovery !== 1) return false;
  if (!isLowS(signature)) return false;
  for (let i = 0; i < compact.length; i++) compact[i] = signature[i]!;
  try {
    ecdsaRecover(compact, recovery, digest, false, publicKey);
  } catch {
    return false; // r or s out of range, or r is no point of the curve: the library throws
  }
  const hash = keccak256(point);
  for (let i = 0; i < ADDRESS_BYTES; i++) out[offset + i] = hash[12 + i]!;
  return true;
}

function isLowS(signature: Uint8Array): boolean {
  for (let i = 0; i < HALF_ORDER.length; i++) {
    const difference = signature[32 + i]! - HALF_ORDER[i]!;
    if (difference !== 0) return difference < 0;
  }
  return true;
}

/** Tells which binding was loaded; the entry point of the package does not. */
function load(): { readonly native: boolean; readonly library: typeof Secp256k1 } {
  const require = createRequire(import.meta.url);
  try {
    return { native: true, library: require('secp256k1/bindings') as typeof Secp256k1 };
  } catch {
    return { native: false, library: require('secp256k1/elliptic') as typeof Secp256k1 };
  }
}
