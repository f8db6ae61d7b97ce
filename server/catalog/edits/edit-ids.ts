/**
 * Ids of an operator's objects, derived from their fields: the same fields have the same ids on every node.
 * A condition id is the digest of oracle, question and number of outcomes, as on chain; the oracle is the
 * zero address, because an operator resolves. Rules: README.md#ids
 *
 * Pure; any thread.
 */

import { keccak256 } from '../../auth/keccak.ts';
import { bytesToHex } from '../../common/uint256.ts';

const WORD = 32;
const ORACLE_BYTES = 20;
/** Ids of 15 digits: catalogs may have them, and small ones do not use them. */
const ID_BASE = 10n ** 14n;
const ID_SPAN = 9n * ID_BASE;

export interface MarketIds {
  readonly id: string;
  readonly questionId: string;
  readonly conditionId: string;
  readonly tokenIds: readonly string[];
}

export function numberOf(kind: 'event' | 'market' | 'tag', name: string): string {
  return String(ID_BASE + (numberFrom(digest(kind, name)) % ID_SPAN));
}

export function marketIds(
  event: string,
  question: string,
  outcomes: number,
  key: string,
): MarketIds {
  const questionId = digest('question', event, key === '' ? question : `${key}\n${question}`);
  const condition = new Uint8Array(ORACLE_BYTES + 2 * WORD);
  condition.set(questionId, ORACLE_BYTES);
  condition[condition.length - 1] = outcomes;
  const conditionId = keccak256(condition);
  return {
    id: numberOf('market', bytesToHex(conditionId, 0, WORD)),
    questionId: bytesToHex(questionId, 0, WORD),
    conditionId: bytesToHex(conditionId, 0, WORD),
    tokenIds: Array.from({ length: outcomes }, (_, outcome) => tokenOf(conditionId, outcome)),
  };
}

export function groupOf(event: string): Uint8Array {
  return digest('group', event);
}

function tokenOf(conditionId: Uint8Array, outcome: number): string {
  const bytes = new Uint8Array(2 * WORD);
  bytes.set(conditionId, 0);
  bytes[bytes.length - 1] = outcome;
  return String(numberFrom(keccak256(bytes)));
}

/** Digest of parts, each after its length, so that no part can take the place of another. */
function digest(...parts: readonly string[]): Uint8Array {
  return keccak256(Buffer.from(parts.map((part) => `${part.length}:${part}`).join('')));
}

function numberFrom(bytes: Uint8Array): bigint {
  return BigInt(bytesToHex(bytes, 0, WORD));
}
