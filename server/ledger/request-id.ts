/**
 * Ids of requests to the ledger: of the text that a caller chose, the unix milliseconds with which it begins, and
 * 128 bits of a digest of all of it. Those of a user are digested with its wallet, so that no user can use up
 * another's. Rules: docs/ledger.md#request-ids
 *
 * Thread: any.
 */
import { createHash } from 'node:crypto';
import type { RequestIdFields } from '../../engine/commands.ts';
import { REQUEST_KEY_WORDS } from '../../engine/tables/codes.ts';
import { bytesToWords } from '../common/uint256.ts';

/** Unix milliseconds, then anything that is no digit first. */
export const ID_TEXT = /^(\d{13})(?:[-_.:][-_.:0-9A-Za-z]{0,85})?$/;

/** What an id has to be, for the person who has to correct it. */
export const ID_RULE =
  'unix milliseconds, and after - _ . or : up to 85 more such marks, letters and digits';

/** Of an operator's request; undefined when the text is no id. */
export function operatorRequestId(text: string): RequestIdFields | undefined {
  return requestId(true, text, 'operator');
}

/** Of a user's request. @param wallet 20 bytes */
export function userRequestId(text: string, wallet: Uint8Array): RequestIdFields | undefined {
  return requestId(false, text, 'user', wallet);
}

function requestId(
  isOperator: boolean,
  text: string,
  realm: string,
  wallet: Uint8Array = new Uint8Array(0),
): RequestIdFields | undefined {
  const match = ID_TEXT.exec(text);
  if (match === null) return undefined;
  const digest = createHash('sha256').update(`${realm}\0`).update(wallet).update(text).digest();
  const key = new Int32Array(REQUEST_KEY_WORDS);
  bytesToWords(digest.subarray(0, 4 * REQUEST_KEY_WORDS), key);
  return { isOperator, ms: Number(match[1]), key };
}
