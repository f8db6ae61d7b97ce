/**
 * Recovers the address that made a signature, by the system's library (system-secp256k1.ts) or the package secp256k1,
 * whose single entry point this is. The node signs nothing.
 *
 * Thread: any; each thread has its own instance of this module and its scratch buffers.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type * as Secp256k1 from 'secp256k1';
import { fixedMessage } from './keccak.ts';
import { openSystemLibrary, type Recovery } from './system-secp256k1.ts';

/** Name of the library that runs where no prebuilt binding fits this machine: some twenty times slower. */
export const SLOW_LIBRARY = 'secp256k1/elliptic';

const SIGNATURE_BYTES = 65;
const ADDRESS_BYTES = 20;
/** Ethereum adds it to the recovery number of a signature. */
const V_BASE = 27;

/** n/2, big-endian. A signature with s above it has a twin (r, n - s) below, of the same order. */
const HALF_ORDER = Buffer.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0',
  'hex',
);

const recovery = openSystemLibrary() ?? openPackage();

/** Path of the system's library, or the name of the package: `secp256k1`, or slower by far `secp256k1/elliptic`. */
export const signatureLibrary: string = recovery.library;

const compact = new Uint8Array(64); // r, s
const publicKey = new Uint8Array(65); // 0x04, x, y
const coordinates = publicKey.subarray(1);
/** The address is the end of its hash. */
const point = fixedMessage(64);

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
  const id = v >= V_BASE ? v - V_BASE : v;
  if (id !== 0 && id !== 1) return false;
  if (!isLowS(signature)) return false;
  for (let i = 0; i < compact.length; i++) compact[i] = signature[i]!;
  if (!recovery.recover(compact, id, digest, publicKey)) return false;
  point.bytes.set(coordinates);
  const hash = point.hash();
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

/** @internal The test compares it with the system's library. */
export function openPackage(): Recovery {
  const { library, name } = loadPackage();
  return {
    library: name,
    recover(signature, id, digest, key) {
      try {
        library.ecdsaRecover(signature, id, digest, false, key);
        return true;
      } catch {
        return false; // r or s out of range, or r is no point of the curve: the package throws
      }
    },
  };
}

/** Tells which binding was loaded; the entry point of the package does not. */
function loadPackage(): { readonly name: string; readonly library: typeof Secp256k1 } {
  const require = createRequire(import.meta.url);
  try {
    return { name: 'secp256k1', library: require('secp256k1/bindings') as typeof Secp256k1 };
  } catch {
    const library = require('secp256k1/elliptic') as typeof Secp256k1;
    return { name: SLOW_LIBRARY, library };
  }
}
