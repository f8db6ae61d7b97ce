/**
 * Keccak-256 of this thread, by the one implementation of node and client (client/keccak.ts).
 *
 * Thread: any; each thread has its own instance of this module, and so its own state. Non-goals: other digests.
 */
import { type FixedMessage, Keccak } from '../../client/keccak.ts';

const keccak = new Keccak();

export function keccak256(data: Uint8Array): Uint8Array {
  return keccak.hash(data);
}

/** Memory for a message of constant length that is hashed often. It is never returned. */
export function fixedMessage(length: number): FixedMessage {
  return keccak.fixedMessage(length);
}
