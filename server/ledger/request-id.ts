/**
 * Ids of requests to the ledger, of the text that a caller chose: unix milliseconds with which it begins, where it does,
 * and 128 bits of a digest of all of it. An operator's may be any other text as well. Those of a user are digested with
 * its wallet, so that no user can use up another's. Rules: docs/ledger.md#request-ids
 *
 * Thread: any.
 */
import { createHash } from 'node:crypto';
import type { RequestIdFields } from '../../engine/commands.ts';
import { REQUEST_KEY_WORDS } from '../../engine/tables/codes.ts';
import { unprintableIn } from '../../storage/texts/printable.ts';
import { bytesToWords } from '../common/uint256.ts';

/** Unix milliseconds, then anything that is no digit first. */
export const ID_TEXT = /^(\d{13})(?:[-_.:][-_.:0-9A-Za-z]{0,85})?$/;

/** Rule of a user's id, for the person who has to correct it. */
export const ID_RULE =
  'unix milliseconds, and after - _ . or : up to 85 more such marks, letters and digits';

/** Code points of an id of an operator. */
const OPERATOR_ID_MAX = 128;
/** Rule of an operator's id. */
export const OPERATOR_ID_RULE = `1 to ${OPERATOR_ID_MAX} printable characters`;

/** Of an operator's request; undefined when the text is no id. */
export function operatorRequestId(text: string): RequestIdFields | undefined {
  if (!isOperatorId(text)) return undefined;
  const ms = millisecondsOf(text);
  return { isOperator: true, ms, key: keyOf('operator', text) };
}

/** Of a user's request. @param wallet 20 bytes */
export function userRequestId(text: string, wallet: Uint8Array): RequestIdFields | undefined {
  const ms = millisecondsOf(text);
  return ms === undefined ? undefined : { isOperator: false, ms, key: keyOf('user', text, wallet) };
}

/** True when a text can be the id of an operator's command. */
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
