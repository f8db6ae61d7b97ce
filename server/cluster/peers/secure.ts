/**
 * How two nodes prove CLUSTER_SECRET to each other: TLS with a cipher that needs the secret on both sides and nothing
 * else, no certificate. Who does not have it reads nothing, changes nothing, and is not answered. The keys of a
 * connection are its own, so what was recorded stays unreadable for who learns the secret later.
 */
import { createHash } from 'node:crypto';
import type { CommonConnectionOptions, SecureContextOptions } from 'node:tls';

/** Of all ciphers that this project allows, the only one: both sides refuse every other. */
const CIPHER = 'ECDHE-PSK-CHACHA20-POLY1305';
const VERSION = 'TLSv1.2';
const PURPOSE = 'peers of a prediction market cluster, version 1';

export const SECURE: SecureContextOptions & CommonConnectionOptions = {
  ciphers: CIPHER,
  minVersion: VERSION,
  maxVersion: VERSION,
};

export function sharedKey(secret: string): Buffer {
  return createHash('sha256').update(PURPOSE).update('\0').update(secret).digest();
}
