/**
 * Checks who sends a request. Level 2 (docs/protocol.md#level-2): a credential trio and an HMAC
 * over the raw request. A read-only key is accepted in its place where a route only reads. Level 1
 * (docs/protocol.md#level-1): a wallet's signature, with which a trio is issued. Each failed check has a
 * reason of its own, except that an unknown key and a wrong passphrase have the same.
 *
 * Thread: the I/O thread. Non-goals: what the caller may do; replay of requests (orders have an
 * identity of their own). Nothing here logs.
 */
import { timingSafeEqual } from 'node:crypto';
import { bareBody, errorBody, JOURNAL_UNAVAILABLE } from '../common/error-bodies.ts';
import { hexToBytes, isUint256 } from '../common/uint256.ts';
import {
  type AuthRefused,
  malformed1,
  malformed2,
  needs,
  RULES,
  refuse1,
  refuse2,
  signedText,
  staleDetail,
  UNKNOWN_READ_ONLY,
  wrongSigner,
} from './auth-refusals.ts';
import { isAddressText } from './checksum.ts';
import type { Trio } from './credentials.ts';
import { authDigest, authSeparator } from './eip712.ts';
import { type Credential, KEYS_MAX, type KeyRegistry } from './key-registry.ts';
import { requestMac } from './request-mac.ts';
import { recoverAddress } from './secp256k1.ts';

export interface Auth {
  readonly registry: KeyRegistry;
  /** Maximum difference of a timestamp from the node's clock, in both directions, inclusive. */
  readonly skewSeconds: number;
  /** Header names in the order of capture, as they appear in a reason. */
  readonly level2Names: readonly string[];
  readonly level1Names: readonly string[];
  readonly readOnlyName: string;
  readonly separator: Uint8Array;
  readonly chainId: number;
  readonly isBanned: (addressText: string) => boolean;
}

export interface KeyOwner {
  readonly ok: true;
  /** 20 bytes; this and `apiKeyBytes`, 16 bytes, are shared with the registry: never written. */
  readonly address: Uint8Array;
  /** Lower-case UUID text. */
  readonly apiKey: string;
  readonly apiKeyBytes: Uint8Array;
}

export interface WalletOwner {
  readonly ok: true;
  readonly address: Uint8Array;
  /** uint256 text. */
  readonly nonce: string;
}

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  /** Without '?'; '' when there is none. */
  readonly query: string;
  readonly body: Uint8Array;
  /** The base path, which may be signed or left out; '' when there is none. */
  readonly base: string;
}

export interface KeyAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: readonly (readonly [string, string])[];
}

const LEVEL2 = ['ADDRESS', 'API_KEY', 'PASSPHRASE', 'TIMESTAMP', 'SIGNATURE'] as const;
const READ_ONLY = 'READONLY_API_KEY';
const LEVEL1 = ['ADDRESS', 'SIGNATURE', 'TIMESTAMP', 'NONCE'] as const;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HEX_32 = /^[0-9a-f]{64}$/i;
const BASE64_32 = /^[A-Za-z0-9+/_-]{43}=?$/;
/** Whole seconds. Milliseconds match, too, and are then refused as stale. */
const SECONDS = /^[0-9]{1,16}$/;

const ADDRESS_BYTES = 20;
const SIGNATURE_BYTES = 65;

/** Used in place of the secret of an unknown key, so that the check takes as long. */
const DUMMY_SECRET = Buffer.alloc(32);
const DUMMY_PASSPHRASE = Buffer.alloc(32);

/** Bytes of a request, for one comparison. */
const sentPassphrase = Buffer.alloc(32);
const sentMac = Buffer.alloc(32);

const claimed = Buffer.alloc(ADDRESS_BYTES);
const recovered = Buffer.alloc(ADDRESS_BYTES);
const digest = new Uint8Array(32);
const signatureBytes = new Uint8Array(SIGNATURE_BYTES);

export function openAuth(
  prefix: string,
  chainId: number,
  skewSeconds: number,
  registry: KeyRegistry,
  isBanned: Auth['isBanned'] = () => false,
): Auth {
  return {
    registry,
    skewSeconds,
    level2Names: LEVEL2.map((name) => `${prefix}_${name}`),
    level1Names: LEVEL1.map((name) => `${prefix}_${name}`),
    readOnlyName: `${prefix}_${READ_ONLY}`,
    separator: authSeparator(chainId),
    chainId,
    isBanned,
  };
}

/** Header names to capture for `checkLevel2`, in its order; lower case. Likewise `level1Headers`. */
export function level2Headers(prefix: string): string[] {
  return LEVEL2.map((name) => `${prefix}_${name}`.toLowerCase());
}

export function readOnlyHeader(prefix: string): string {
  return `${prefix}_${READ_ONLY}`.toLowerCase();
}

export function level1Headers(prefix: string): string[] {
  return LEVEL1.map((name) => `${prefix}_${name}`.toLowerCase());
}

/**
 * Checks API key, passphrase and HMAC. The checks of the headers alone come first (presence,
 * format, age), so that only a caller who knows the passphrase learns more about a key.
 *
 * @param headers values in the order of `level2Headers`, '' when absent; further ones are ignored
 * @returns refused with 401 and `{"error":"invalid_l2: <reason>"}`
 */
export function checkLevel2(
  auth: Auth,
  headers: readonly string[],
  request: SignedRequest,
  nowSeconds: number,
): KeyOwner | AuthRefused {
  const names = auth.level2Names;
  const missing = firstMissing(headers, names);
  if (missing >= 0) return refuse2(`missing header ${names[missing]}`, needs(2, names));
  const address = headers[0]!;
  const apiKey = headers[1]!;
  const passphrase = headers[2]!;
  const timestamp = headers[3]!;
  const hasMac = decodeMac(headers[4]!);
  if (!isAddressText(address)) return malformed2(names[0]!, RULES.address);
  if (!UUID.test(apiKey)) return malformed2(names[1]!, RULES.key);
  if (!HEX_32.test(passphrase)) return malformed2(names[2]!, RULES.passphrase);
  if (!SECONDS.test(timestamp)) return malformed2(names[3]!, RULES.seconds);
  if (!hasMac) return malformed2(names[4]!, RULES.hmac);
  if (isStale(timestamp, nowSeconds, auth.skewSeconds)) {
    return refuse2(staleReason(nowSeconds), staleDetail(auth.skewSeconds, timestamp));
  }

  const found = auth.registry.lookup(apiKey.toLowerCase());
  const credential = found?.addressText === address.toLowerCase() ? found : undefined;
  sentPassphrase.write(passphrase, 'hex');
  const passphraseRight = timingSafeEqual(
    sentPassphrase,
    credential?.passphrase ?? DUMMY_PASSPHRASE,
  );
  const isSigned = isSignedBy(credential, timestamp, request);
  if (credential === undefined || !passphraseRight) {
    return UNKNOWN_KEY;
  }
  if (!isSigned) return refuse2('wrong signature', signedText(timestamp, request));
  if (auth.isBanned(credential.addressText)) return BANNED;
  const { address: owner, apiKey: key, apiKeyBytes } = credential;
  return { ok: true, address: owner, apiKey: key, apiKeyBytes };
}

/**
 * Header values of a level-2 request in the order of `level2Headers`, signed with a credential whose owner has proved
 * to know it.
 */
export function signedHeaders(
  { addressText, apiKey, passphrase, secret }: Credential,
  { body, method, path }: Pick<SignedRequest, 'body' | 'method' | 'path'>,
  nowSeconds: number,
): readonly string[] {
  const timestamp = String(nowSeconds);
  const signature = requestMac(secret, `${timestamp}${method}${path}`, body).toString('hex');
  return [addressText, apiKey, passphrase.toString('hex'), timestamp, signature];
}

const BANNED: AuthRefused = {
  ok: false,
  status: 403,
  body: bareBody('ADDRESS_BANNED'),
  isOfKeys: true,
};

/** Refusal of the owner of a key whose credentials another node has checked, or `undefined`. */
export function refusalOfKey({ isBanned, registry }: Auth, key: string): AuthRefused | undefined {
  const credential = registry.lookup(key);
  if (credential === undefined) return UNKNOWN_KEY;
  return isBanned(credential.addressText) ? BANNED : undefined;
}

const UNKNOWN_KEY: AuthRefused = {
  ...refuse2(
    'unknown key or wrong passphrase',
    'this node issued no such key to the address, or it was revoked: GET /auth/derive-api-key tells it again',
  ),
  isOfKeys: true,
};

/** Refusal of a read-only key where a route changes something. */
export const READ_ONLY_REFUSED: AuthRefused = {
  ok: false,
  status: 403,
  body: errorBody(
    'INVALID_L2',
    'a read-only key reads own orders and trades: sign with an API key',
    { text: 'invalid_l2: read-only key' },
  ),
};

/**
 * Owner of the read-only key of a request. The key is itself a secret, because clients send it without a
 * signature.
 */
export function checkReadOnly(
  auth: Auth,
  headers: readonly string[],
  mayRead: boolean,
): KeyOwner | AuthRefused | undefined {
  const [address = '', apiKey = '', , , , readOnlyKey = ''] = headers;
  if (readOnlyKey === '' || apiKey !== '') return undefined;
  if (!mayRead) return READ_ONLY_REFUSED;
  const name = auth.level2Names[0]!;
  if (address === '') {
    return refuse2(`missing header ${name}`, needs(2, [name, auth.readOnlyName]));
  }
  if (!isAddressText(address)) return malformed2(name, RULES.address);
  if (!UUID.test(readOnlyKey)) return malformed2(auth.readOnlyName, RULES.key);
  const found = auth.registry.lookupReadOnly(readOnlyKey.toLowerCase());
  if (found?.addressText !== address.toLowerCase())
    return { ...refuse2('unknown read-only key', UNKNOWN_READ_ONLY), isOfKeys: true };
  if (auth.isBanned(found.addressText)) return BANNED;
  return { ok: true, address: found.address, apiKey: found.key, apiKeyBytes: found.keyBytes };
}

/**
 * Checks a wallet's signature over (address, timestamp, nonce).
 *
 * @param headers values in the order of `level1Headers`, '' when absent; further ones are ignored
 * @returns refused with `{"error":"invalid_l1: <reason>"}`: 400 for a malformed header, else 401
 */
export function checkLevel1(
  auth: Auth,
  headers: readonly string[],
  nowSeconds: number,
): WalletOwner | AuthRefused {
  const names = auth.level1Names;
  const missing = firstMissing(headers, names);
  if (missing >= 0) return refuse1(401, `missing header ${names[missing]}`, needs(1, names));
  const address = headers[0]!;
  const timestamp = headers[2]!;
  const nonce = headers[3]!;
  if (!isAddressText(address)) return malformed1(names[0]!, RULES.address);
  if (!hexToBytes(headers[1]!, SIGNATURE_BYTES, signatureBytes, 0)) {
    return malformed1(names[1]!, RULES.signature);
  }
  if (!SECONDS.test(timestamp)) return malformed1(names[2]!, RULES.seconds);
  if (!isUint256(nonce)) return malformed1(names[3]!, RULES.nonce);
  if (isStale(timestamp, nowSeconds, auth.skewSeconds)) {
    return refuse1(401, staleReason(nowSeconds), staleDetail(auth.skewSeconds, timestamp));
  }
  hexToBytes(address, ADDRESS_BYTES, claimed, 0);
  authDigest(auth.separator, claimed, timestamp, nonce, digest, 0);
  if (!recoverAddress(digest, signatureBytes, recovered, 0)) {
    return refuse1(
      401,
      'wrong signature',
      'no key makes such a signature: r, s or v is out of range',
    );
  }
  if (!recovered.equals(claimed)) return wrongSigner(auth.chainId, recovered, claimed);
  if (auth.isBanned(address.toLowerCase())) return BANNED;
  return { ok: true, address: new Uint8Array(claimed), nonce };
}

/**
 * POST /auth/api-key (docs/protocol.md#api-keys): issues the caller's trio, or returns the existing
 * one. Resolves when the key is durable; 503 when it cannot be written.
 * @param refusal why a new key is refused, or undefined
 */
export async function issueKey(
  auth: Auth,
  caller: WalletOwner,
  refusal: () => KeyAnswer | undefined = () => undefined,
): Promise<KeyAnswer> {
  const { registry } = auth;
  const { address, nonce } = caller;
  if (!registry.mayHave(address, nonce)) return { status: 400, body: TOO_MANY_KEYS };
  const refused = registry.knows(address, nonce) ? undefined : refusal();
  if (refused !== undefined) return refused;
  try {
    return trioAnswer(await registry.create(address, nonce));
  } catch {
    return { status: 503, body: JOURNAL_UNAVAILABLE };
  }
}

const TOO_MANY_KEYS = errorBody(
  'TOO_MANY_API_KEYS',
  `an address may have ${KEYS_MAX}, revoked ones included: use a nonce again`,
);

export function deriveKey(auth: Auth, caller: WalletOwner): KeyAnswer {
  const trio = auth.registry.derive(caller.address, caller.nonce);
  if (trio === undefined) return { status: 404, body: errorBody('UNKNOWN_API_KEY') };
  return trioAnswer(trio);
}

function trioAnswer(trio: Trio): KeyAnswer {
  return { status: 200, body: JSON.stringify(trio) };
}

function isSignedBy(
  credential: Credential | undefined,
  timestamp: string,
  { base, body, method, path, query }: SignedRequest,
): boolean {
  const secret = credential?.secret ?? DUMMY_SECRET;
  const head = timestamp + method.toUpperCase();
  const isFor = (signed: string): boolean =>
    timingSafeEqual(requestMac(secret, head + signed, body), sentMac);
  // SDKs sign the path alone; some sign it with the query string (docs/protocol.md#level-2).
  const isPath = (signed: string): boolean =>
    isFor(signed) || (query !== '' && isFor(`${signed}?${query}`));
  return isPath(path) || (base !== '' && isPath(path.slice(base.length)));
}

/** Writes the bytes of hex, base64url or base64 (docs/protocol.md#level-2) to `sentMac`; false for any other text. */
function decodeMac(text: string): boolean {
  if (HEX_32.test(text)) sentMac.write(text, 'hex');
  else if (BASE64_32.test(text)) sentMac.write(text, 'base64');
  else return false;
  return true;
}

function isStale(timestamp: string, nowSeconds: number, skewSeconds: number): boolean {
  return Math.abs(Number(timestamp) - nowSeconds) > skewSeconds;
}

function staleReason(nowSeconds: number): string {
  return `stale timestamp, server time is ${nowSeconds}`;
}

function firstMissing(headers: readonly string[], names: readonly string[]): number {
  for (let i = 0; i < names.length; i++) {
    if (headers[i] === undefined || headers[i] === '') return i;
  }
  return -1;
}
