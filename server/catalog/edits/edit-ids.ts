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

/** Bytes of a position: module, 16 of a hash, arity, zeros, chain, index of the condition; the last is the outcome. */
const LAYOUT = { module: 0, hash: 1, arity: 17, index: 29 } as const;
const BINARY = 1;
const NEG_RISK = 2;
/** Markets for which a neg-risk event has room; a part of the ids of all of them. */
export const GROUP_ARITY = 256;

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

/**
 * Ids of a market of the second protocol: its condition has the layout of docs/protocol.md#positions, and a position is
 * the condition with its outcome as the last byte.
 * @param place of the market in its neg-risk event, 1 to GROUP_ARITY; 0 outside of one
 */
export function positionIds(
  event: string,
  question: string,
  place: number,
  key: string,
): MarketIds {
  const questionId = positionsQuestion(event, question, key);
  const conditionId = new Uint8Array(WORD);
  const { arity, hash, index, module } = LAYOUT;
  conditionId[module] = place === 0 ? BINARY : NEG_RISK;
  const source = place === 0 ? questionId : groupOf(event);
  conditionId.set(source.subarray(0, arity - hash), hash);
  const view = new DataView(conditionId.buffer);
  view.setUint16(arity, place === 0 ? 0 : GROUP_ARITY);
  view.setUint16(index, place);
  return {
    id: numberOf('market', bytesToHex(conditionId, 0, WORD)),
    questionId: bytesToHex(questionId, 0, WORD),
    conditionId: bytesToHex(conditionId, 0, WORD),
    tokenIds: [0, 1].map((outcome) => String(numberFrom(conditionId) + BigInt(outcome))),
  };
}

/** Id of a question of the second protocol, which may be asked in the first one too. */
export function positionsQuestion(event: string, question: string, key: string): Uint8Array {
  return digest('positions', event, key === '' ? question : `${key}\n${question}`);
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
