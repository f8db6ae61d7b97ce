/**
 * Single entry point to the package keccak: 256-bit Keccak (the padding before SHA-3) as Ethereum
 * uses it.
 *
 * Thread: any; every thread has its own instance of this module, and so its own sponge. Non-goals:
 * other digest sizes, streaming.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** The package's entry point would load a library of streams, and make one for each digest. */
interface Sponge {
  initialize(rateBits: number, capacityBits: number): void;
  absorb(data: Uint8Array): void;
  absorbLastFewBits(bits: number): void;
  squeeze(bytes: number): Uint8Array;
}

type SpongeClass = new () => Sponge;

const RATE_BITS = 1088;
const CAPACITY_BITS = 512;
const DIGEST_BYTES = 32;
/** Keccak's own suffix: a single 1 bit, where SHA-3 has 01. */
const PADDING_BITS = 0x01;

const loaded = load();

/** False when no prebuilt binding fits this machine: about five times slower. */
export const keccakIsNative: boolean = loaded.native;

const sponge = new loaded.Sponge();

/** The sponge is not documented by the package, so it is tested at load. */
assert(
  Buffer.from(keccak256(new Uint8Array(0))).toString('hex') ===
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  'the digest of nothing is as published',
);

export function keccak256(data: Uint8Array): Uint8Array {
  sponge.initialize(RATE_BITS, CAPACITY_BITS);
  sponge.absorb(data);
  sponge.absorbLastFewBits(PADDING_BITS);
  return sponge.squeeze(DIGEST_BYTES);
}

/** The digest of `data` into `out` from `offset`; `out` may be `data` itself. */
export function keccak256Into(data: Uint8Array, out: Uint8Array, offset: number): void {
  assert(offset + DIGEST_BYTES <= out.length, 'a digest fits its buffer');
  const digest = keccak256(data);
  for (let i = 0; i < DIGEST_BYTES; i++) out[offset + i] = digest[i]!;
}

function load(): { readonly native: boolean; readonly Sponge: SpongeClass } {
  const require = createRequire(import.meta.url);
  try {
    const bindings = require.resolve('keccak/bindings');
    const loadBinding = createRequire(bindings)('node-gyp-build') as (folder: string) => unknown;
    const Sponge = loadBinding(dirname(bindings));
    assert(typeof Sponge === 'function', 'a binding is a class');
    return { native: true, Sponge: Sponge as SpongeClass };
  } catch {
    return { native: false, Sponge: require('keccak/lib/keccak') as SpongeClass };
  }
}
