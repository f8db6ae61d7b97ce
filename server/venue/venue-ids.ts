/**
 * Ids of what an operator makes, derived from what it is: the same wish has the same ids on every node. A condition id
 * is the digest of oracle, question and number of outcomes, as markets on chain have it; the oracle is the zero
 * address, because an operator resolves. Rules: README.md#ids
 *
 * Pure; any thread.
 */
import { bytesToHex } from '../common/uint256.ts';
import { keccak256 } from '../identity/keccak.ts';

const WORD = 32;
const ORACLE_BYTES = 20;
/** Ids of 15 digits, which the catalog takes and a small catalog of one's own does not use. */
const ID_BASE = 10n ** 14n;
const ID_SPAN = 9n * ID_BASE;

export interface MarketIds {
  readonly id: string;
  readonly questionId: string;
  readonly conditionId: string;
  /** In the order of the outcomes. */
  readonly tokenIds: readonly string[];
}

/** Of an event, a tag or a market in its own list. */
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

/** The neg-risk group of an event: 32 bytes. */
export function groupOf(event: string): Uint8Array {
  return digest('group', event);
}

function tokenOf(conditionId: Uint8Array, outcome: number): string {
  const bytes = new Uint8Array(2 * WORD);
  bytes.set(conditionId, 0);
  bytes[bytes.length - 1] = outcome;
  return String(numberFrom(keccak256(bytes)));
}

/** No part can take the place of another, because each follows its length. */
function digest(...parts: readonly string[]): Uint8Array {
  return keccak256(Buffer.from(parts.map((part) => `${part.length}:${part}`).join('')));
}

function numberFrom(bytes: Uint8Array): bigint {
  return BigInt(bytesToHex(bytes, 0, WORD));
}
