/**
 * Single entry point of the client to the package @noble/hashes, and to what is faster where it runs
 * in Node: node:crypto, and keccak.ts. Bytes and their texts.
 * Non-goals: streaming.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import * as utils from '@noble/hashes/utils.js';
import { Keccak } from './keccak.ts';
import { builtin } from './platform.ts';

const buffers = builtin<typeof import('node:buffer')>('node:buffer')?.Buffer;
const crypto = builtin<typeof import('node:crypto')>('node:crypto');
const keccak = buffers === undefined ? undefined : new Keccak();

export function keccak256(data: Uint8Array): Uint8Array {
  return keccak === undefined ? keccak_256(data) : keccak.hash(data);
}

/** In hex. */
export function hmacSha256(key: Uint8Array, text: string): string {
  if (crypto !== undefined) return crypto.createHmac('sha256', key).update(text).digest('hex');
  return toHex(hmac(sha256, key, bytesOfText(text)));
}

export function sha1Hex(text: string): string {
  if (crypto !== undefined) return crypto.createHash('sha1').update(text).digest('hex');
  return toHex(sha1(bytesOfText(text)));
}

/** In hex. */
export function sha256Hex(text: string): string {
  if (crypto !== undefined) return crypto.createHash('sha256').update(text).digest('hex');
  return toHex(sha256(bytesOfText(text)));
}

export function bytesOfText(text: string): Uint8Array {
  return buffers === undefined ? utils.utf8ToBytes(text) : buffers.from(text);
}

/** @param text an even number of hex digits */
export function bytesOfHex(text: string): Uint8Array {
  return buffers === undefined ? utils.hexToBytes(text) : buffers.from(text, 'hex');
}

export function toHex(bytes: Uint8Array): string {
  if (buffers === undefined) return utils.bytesToHex(bytes);
  return buffers.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}
