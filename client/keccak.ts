/**
 * Single entry point of the client to the package keccak: the hash of Ethereum.
 * Non-goals: streaming.
 */
import { createRequire } from 'node:module';

interface Hash {
  update(data: Buffer): Hash;
  digest(): Buffer;
}

// The package has no types. It loads its native part if there is one for this machine.
const create = createRequire(import.meta.url)('keccak') as (algorithm: 'keccak256') => Hash;

/** 32 bytes. */
export function keccak256(data: Buffer): Buffer {
  return create('keccak256').update(data).digest();
}
