/**
 * Ids of requests to the ledger: the leading unix milliseconds of the caller's text, if any, and 128 bits of a digest
 * of the whole text. A user's text is digested with its wallet, so that no user can use up another's ids. Rules:
 * docs/ledger.md#request-ids
 *
 * Thread: any.
 */
import { createHash } from 'node:crypto';
import type { RequestIdFields } from '../../engine/commands.ts';
import { REQUEST_KEY_WORDS } from '../../engine/tables/codes.ts';
import { unprintableIn } from '../../storage/texts/printable.ts';
import { bytesToWords } from '../common/uint256.ts';

export const ID_TEXT = /^(\d{13})(?:[-_.:][-_.:0-9A-Za-z]{0,85})?$/;

export const ID_RULE =
  'unix milliseconds, and after - _ . or : up to 85 more such marks, letters and digits';

const OPERATOR_ID_MAX = 128;
export const OPERATOR_ID_RULE = `1 to ${OPERATOR_ID_MAX} printable characters`;

export function operatorRequestId(text: string): RequestIdFields | undefined {
  if (!isOperatorId(text)) return undefined;
  const ms = millisecondsOf(text);
  return { isOperator: true, ms, key: keyOf('operator', text) };
}

/** `undefined` for a text that is no id. @param wallet 20 bytes */
export function userRequestId(text: string, wallet: Uint8Array): RequestIdFields | undefined {
  const ms = millisecondsOf(text);
  return ms === undefined ? undefined : { isOperator: false, ms, key: keyOf('user', text, wallet) };
}

export function isOperatorId(text: string): boolean {
  if (text === '' || text.length > 2 * OPERATOR_ID_MAX) return false;
  return [...text].length <= OPERATOR_ID_MAX && unprintableIn(text) === undefined;
}

function millisecondsOf(text: string): number | undefined {
  const match = ID_TEXT.exec(text);
  return match === null ? undefined : Number(match[1]);
}

function keyOf(realm: string, text: string, wallet: Uint8Array = new Uint8Array(0)): Int32Array {
  const digest = createHash('sha256').update(`${realm}\0`).update(wallet).update(text).digest();
  return bytesToWords(digest.subarray(0, 4 * REQUEST_KEY_WORDS), new Int32Array(REQUEST_KEY_WORDS));
}
