/**
 * Credential headers: of a wallet by its signature (level 1), of an API key by its HMAC over the
 * request (level 2), or of a read-only key, which is itself a secret. Pure.
 */
import { hmacSha256, sha256Hex } from './hashes.ts';
import type { TrioAnswer } from './types.ts';
import type { Wallet } from './wallet.ts';

export type ApiKey = TrioAnswer;

export type Identity =
  | { readonly address: string; readonly key: ApiKey }
  /** May only read own orders and trades. */
  | { readonly address: string; readonly readOnlyKey: string };

type Headers = Record<string, string>;

/** Headers of level 1. @internal Tests send them by hand. */
export function level1(
  prefix: string,
  wallet: Wallet,
  chainId: number,
  timestamp: string,
  nonce: string,
): Headers {
  const signature = wallet.signAuth(chainId, timestamp, nonce);
  return level1Signed(prefix, wallet.address, signature, timestamp, nonce);
}

export function level1Signed(
  prefix: string,
  address: string,
  signature: string,
  timestamp: string,
  nonce: string,
): Headers {
  return {
    [`${prefix}_ADDRESS`]: address,
    [`${prefix}_SIGNATURE`]: signature,
    [`${prefix}_TIMESTAMP`]: timestamp,
    [`${prefix}_NONCE`]: nonce,
  };
}

/** The five level-2 headers. `path` has no query string; `body` is the text as it is sent. */
export function level2(
  prefix: string,
  address: string,
  key: ApiKey,
  method: string,
  path: string,
  body: string,
  timestamp: string,
): Headers {
  const signature = hmacSha256(bytesOfBase64(key.secret), `${timestamp}${method}${path}${body}`);
  return {
    [`${prefix}_ADDRESS`]: address,
    [`${prefix}_API_KEY`]: key.apiKey,
    [`${prefix}_PASSPHRASE`]: key.passphrase,
    [`${prefix}_TIMESTAMP`]: timestamp,
    [`${prefix}_SIGNATURE`]: signature,
  };
}

export function readOnly(prefix: string, address: string, key: string): Headers {
  return { [`${prefix}_ADDRESS`]: address, [`${prefix}_READONLY_API_KEY`]: key };
}

/** Decodes either alphabet of base64. */
function bytesOfBase64(text: string): Uint8Array {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0));
}

/** Nonce of a level-1 signature that also covers a body: its SHA-256 as a whole number. */
export function nonceOfBody(body: string): string {
  return String(BigInt(`0x${sha256Hex(body)}`));
}
