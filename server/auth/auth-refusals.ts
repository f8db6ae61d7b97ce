/**
 * Refused credentials: the reason of each check, and what a person can do about it. One reason a check, so that nobody
 * has to guess (docs/protocol.md#level-2).
 *
 * Pure; any thread.
 */
import { errorBody } from '../common/error-bodies.ts';
import { checksumAddress } from './checksum.ts';

export interface AuthRefused {
  readonly ok: false;
  readonly status: 400 | 401 | 403;
  readonly body: string;
  /** True when the refusal follows from the keys of this node; another node may know more keys. */
  readonly isOfKeys?: true;
}

/** Rules of the headers, behind "must be". */
export const RULES = {
  address: '0x and 40 hexadecimal digits; mixed case must be its checksum',
  key: 'a UUID',
  passphrase: '64 hexadecimal digits',
  seconds: 'unix seconds',
  hmac: '32 bytes as hexadecimal or base64url digits',
  signature: '0x and 130 hexadecimal digits',
  nonce: 'a whole number below 2^256, usually 0',
} as const;
export const UNKNOWN_READ_ONLY =
  'this node issued no such key to the address, or it was revoked: GET /auth/readonly-api-keys lists them';
const SHOWN_PATH_MAX = 200;

export function needs(level: 1 | 2, names: readonly string[]): string {
  return `level ${level} needs the headers ${names.join(', ')}`;
}

export function staleDetail(skewSeconds: number, timestamp: string): string {
  const isMilliseconds = timestamp.length >= 13;
  const unit = isMilliseconds
    ? 'it is in milliseconds: send unix seconds'
    : 'GET /time is the clock';
  return `a timestamp may differ by ${skewSeconds} s from the clock of the node; ${unit}`;
}

/** Returns the text that the HMAC signs. Only for callers that have proved to know the passphrase. */
export function signedText(
  timestamp: string,
  {
    body,
    method,
    path,
  }: { readonly body: Uint8Array; readonly method: string; readonly path: string },
): string {
  const shown = path.length > SHOWN_PATH_MAX ? `${path.slice(0, SHOWN_PATH_MAX)}..` : path;
  const signed = `${timestamp}${method.toUpperCase()}${shown}`;
  const rest = body.length === 0 ? '' : ` and the ${body.length} bytes of the body as sent`;
  return `it must be HMAC-SHA256, keyed with the decoded secret, of ${signed}${rest}`;
}

export function wrongSigner(
  chainId: number,
  recovered: Uint8Array,
  claimed: Uint8Array,
): AuthRefused {
  const [of, wanted] = [checksumAddress(recovered), checksumAddress(claimed)];
  const over = `ClobAuth with chain id ${chainId}, and the address, timestamp and nonce of the headers`;
  const detail = `as sent it is of ${of}, not of ${wanted}: it must be over ${over}`;
  const body = errorBody('INVALID_L1', detail, {
    text: 'invalid_l1: wrong signature',
    facts: { recovered: of },
  });
  return { ok: false, status: 401, body };
}

export function malformed2(name: string, rule: string): AuthRefused {
  return refuse2(`malformed header ${name}`, `${name} must be ${rule}`);
}

export function malformed1(name: string, rule: string): AuthRefused {
  return refuse1(400, `malformed header ${name}`, `${name} must be ${rule}`);
}

export function refuse2(reason: string, detail: string): AuthRefused {
  return {
    ok: false,
    status: 401,
    body: errorBody('INVALID_L2', detail, { text: `invalid_l2: ${reason}` }),
  };
}

export function refuse1(status: 400 | 401, reason: string, detail: string): AuthRefused {
  return {
    ok: false,
    status,
    body: errorBody('INVALID_L1', detail, { text: `invalid_l1: ${reason}` }),
  };
}
