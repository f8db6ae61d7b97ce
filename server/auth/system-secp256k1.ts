/**
 * Single entry point to the package koffi: recovery of public keys by the libsecp256k1 of this system, which is newer
 * and a third faster than the copy in the package secp256k1. Both are optional: without them, secp256k1.ts uses that
 * package.
 *
 * Thread: any; each thread has its own context and scratch buffers.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Koffi from 'koffi';
import { KNOWN_ANSWERS } from './known-signatures.ts';

/** Recovers the key of a signature. Lengths of its arguments are checked by the caller. */
export interface Recovery {
  /** Path of the library, or the name of the package. */
  readonly library: string;
  /**
   * @param compact 64 bytes: r, s
   * @param recovery 0 or 1
   * @param publicKey 65 bytes that are written: 0x04, x, y
   * @returns false, with `publicKey` in any state, where no key can have made the signature
   */
  recover(
    compact: Uint8Array,
    recovery: number,
    digest: Uint8Array,
    publicKey: Uint8Array,
  ): boolean;
}

/** Fixed places alone: a search path may name a library of anybody. */
const FOLDERS = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/lib',
  '/usr/local/lib',
  '/opt/homebrew/lib',
];
/** Versions of the interface of which the four functions below are known, the newest first. */
const VERSIONS = [6, 5, 4, 3, 2, 1, 0];
/** Verification, which releases up to 0.2 need; later ones accept it. */
const CONTEXT_VERIFY = 0x0101;
const UNCOMPRESSED = 2;
const KEY_BYTES = 65;

export function openSystemLibrary(folders: readonly string[] = FOLDERS): Recovery | undefined {
  const koffi = loadKoffi();
  if (koffi === undefined) return undefined;
  for (const version of VERSIONS) {
    const names = [`libsecp256k1.so.${version}`, `libsecp256k1.${version}.dylib`];
    for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
      const found = existsSync(path) ? tryOpen(koffi, path) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function loadKoffi(): typeof Koffi | undefined {
  try {
    return createRequire(import.meta.url)('koffi') as typeof Koffi;
  } catch {
    return undefined;
  }
}

/** Undefined for a library that lacks a function, or gives another answer than is known. */
function tryOpen(koffi: typeof Koffi, path: string): Recovery | undefined {
  try {
    const recovery = open(koffi, path);
    return givesKnownAnswers(recovery) ? recovery : undefined;
  } catch {
    return undefined;
  }
}

function open(koffi: typeof Koffi, library: string): Recovery {
  const opened = koffi.load(library);
  const create = opened.func('void *secp256k1_context_create(unsigned int flags)');
  const parse = opened.func(
    'int secp256k1_ecdsa_recoverable_signature_parse_compact(void *context, void *signature, void *compact, int recovery)',
  );
  const recoverKey = opened.func(
    'int secp256k1_ecdsa_recover(void *context, void *key, void *signature, void *digest)',
  );
  const serialize = opened.func(
    'int secp256k1_ec_pubkey_serialize(void *context, void *out, void *length, void *key, unsigned int flags)',
  );
  const context = create(CONTEXT_VERIFY) as unknown;
  const signature = new Uint8Array(65);
  const key = new Uint8Array(64);
  const length = new BigUint64Array(1);
  // What is passed to the library is memory of this thread alone: a buffer that threads share could change meanwhile.
  const [ownCompact, ownDigest, out] = [64, 32, KEY_BYTES].map((bytes) => new Uint8Array(bytes));
  return {
    library,
    recover(compact, recovery, digest, publicKey) {
      ownCompact!.set(compact);
      ownDigest!.set(digest);
      if (parse(context, signature, ownCompact, recovery) !== 1) return false;
      if (recoverKey(context, key, signature, ownDigest) !== 1) return false;
      length[0] = BigInt(KEY_BYTES);
      serialize(context, out, length, key, UNCOMPRESSED);
      publicKey.set(out!);
      return true;
    },
  };
}

/** @internal The test gives it libraries that are wrong. */
export function givesKnownAnswers({ recover }: Recovery): boolean {
  const publicKey = new Uint8Array(KEY_BYTES);
  return KNOWN_ANSWERS.every(({ digest, key, r, s, v }) => {
    const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
    const isRecovered = recover(bytes(r + s), v, bytes(digest), publicKey);
    return isRecovered ? Buffer.from(publicKey).toString('hex') === key : key === '';
  });
}
