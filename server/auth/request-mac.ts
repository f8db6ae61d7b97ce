/**
 * HMAC-SHA-256 of a request. It is two calls of the hash: an Hmac object of node:crypto costs more than the hash
 * of a usual order, and has to be finalized.
 *
 * Thread: the I/O thread, which has scratch memory for it.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const MAC_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** Most bytes that a character of a text takes. */
const CHARACTER_BYTES_MAX = 3;

/** Block of the secret, then the message. It grows up to the largest request. */
let inner = Buffer.alloc(4_096);
/** Block of the secret, then the hash of `inner`. */
const outer = Buffer.alloc(BLOCK_BYTES + MAC_BYTES);
const mac = Buffer.alloc(MAC_BYTES);

/**
 * Returns the HMAC of a text and a body: 32 bytes, valid until the next call.
 * @param secret at most 64 bytes
 */
export function requestMac(secret: Uint8Array, signed: string, body: Uint8Array): Buffer {
  assert(secret.length <= BLOCK_BYTES, 'a longer secret would be hashed first');
  const bytes = BLOCK_BYTES + CHARACTER_BYTES_MAX * signed.length + body.length;
  if (inner.length < bytes) inner = Buffer.alloc(2 * bytes);
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const byte = secret[i] ?? 0;
    inner[i] = byte ^ INNER_PAD;
    outer[i] = byte ^ OUTER_PAD;
  }
  const bodyAt = BLOCK_BYTES + inner.write(signed, BLOCK_BYTES);
  inner.set(body, bodyAt);
  // As text of one character a byte: a buffer for each hash costs as much as the hash.
  const innerHash = hash('sha256', inner.subarray(0, bodyAt + body.length), 'binary');
  outer.write(innerHash, BLOCK_BYTES, 'latin1');
  mac.write(hash('sha256', outer, 'binary'), 'latin1');
  return mac;
}
