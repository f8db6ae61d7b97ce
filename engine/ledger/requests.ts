/**
 * Ids of requests: a request is applied once. Operators and users have a ring each, of the newest
 * ids that were accepted; what is not later than one that was forgotten is refused.
 * Rules: docs/ledger.md#request-ids
 */
import { assert } from '../book/matching.ts';
import { commandKind, RequestFlag, RequestId } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import { REQUEST_AHEAD_MS, REQUEST_ROWS, REQUESTS_KEPT } from '../tables/capacities.ts';
import { REQUEST_KEY_WORDS } from '../tables/codes.ts';
import { home, indexInsert, indexRemove, next, sameWords, tagOf } from '../tables/hash-index.ts';
import { Ledger, REQUEST_F, REQUEST_I, Request } from '../tables/layout.ts';
import { REALMS, type Tables } from '../tables/tables.ts';

/** Ring of a command's id: of operators, or of users. */
function realmOf(i32: Int32Array, at: number): number {
  return (i32[at + 1]! & RequestFlag.operator) !== 0 ? 0 : 1;
}

/** Row + 1 of the id of the command at `at`, or 0. */
export function findRequest(t: Tables, i32: Int32Array, f64: Float64Array, at: number): number {
  const { requestF, requestI, requestIndex } = t;
  const key = at + RequestId.key;
  const tag = tagOf(i32, key, REQUEST_KEY_WORDS);
  const realm = realmOf(i32, at);
  const ms = f64[at / 2 + RequestId.ms]!;
  for (let entry = home(requestIndex, tag); ; entry = next(requestIndex, entry)) {
    const found = requestIndex[2 * entry + 1]!;
    if (found === 0) return 0;
    const row = found - 1;
    if (requestIndex[2 * entry] !== tag || Math.floor(row / REQUEST_ROWS) !== realm) continue;
    if (requestF[(row << REQUEST_F) + Request.ms] !== ms) continue;
    const stored = (row << REQUEST_I) + Request.key;
    if (sameWords(requestI, stored, i32, key, REQUEST_KEY_WORDS)) return found;
  }
}

/** Why an id that was not found may not be used, by its RejectReason; undefined = it may. */
export function checkRequest(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): 'idInvalid' | 'idTooOld' | undefined {
  const ms = f64[at / 2 + RequestId.ms]!;
  if (!Number.isInteger(ms) || ms < 0 || ms > context.time + REQUEST_AHEAD_MS) {
    return 'idInvalid';
  }
  const forgotten = context.t.ledger[Ledger.forgotten + realmOf(i32, at)]!;
  return ms > forgotten ? undefined : 'idTooOld';
}

/** Enters the id of an accepted command; the oldest of its ring is forgotten beyond those that are kept. */
export function enterRequest(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  subject: number,
  other: number,
  amount: number,
  result: number,
): void {
  const { t } = context;
  const { ledger, requestF, requestI, requestIndex } = t;
  const realm = realmOf(i32, at);
  const sequence = ledger[Ledger.requests + realm]!;
  if (sequence >= REQUESTS_KEPT) forget(t, realm, sequence - REQUESTS_KEPT);
  ledger[Ledger.requests + realm] = sequence + 1;
  const row = rowOf(realm, sequence);
  const d = row << REQUEST_F;
  const w = row << REQUEST_I;
  requestF[d + Request.ms] = f64[at / 2 + RequestId.ms]!;
  requestF[d + Request.amount] = amount;
  requestF[d + Request.result] = result;
  requestF[d + Request.time] = context.time;
  const key = at + RequestId.key;
  for (let i = 0; i < REQUEST_KEY_WORDS; i++) requestI[w + Request.key + i] = i32[key + i]!;
  requestI[w + Request.kind] = commandKind(i32, at);
  requestI[w + Request.subject] = subject;
  requestI[w + Request.other] = other;
  indexInsert(requestIndex, tagOf(i32, key, REQUEST_KEY_WORDS), row + 1);
}

function rowOf(realm: number, sequence: number): number {
  return realm * REQUEST_ROWS + (sequence % REQUEST_ROWS);
}

function forget(t: Tables, realm: number, sequence: number): void {
  const { ledger, requestF, requestI, requestIndex } = t;
  const row = rowOf(realm, sequence);
  const tag = tagOf(requestI, (row << REQUEST_I) + Request.key, REQUEST_KEY_WORDS);
  const isThere = indexRemove(requestIndex, tag, row + 1);
  assert(isThere, 'a request is known by its id');
  const ms = requestF[(row << REQUEST_F) + Request.ms]!;
  ledger[Ledger.forgotten + realm] = Math.max(ledger[Ledger.forgotten + realm]!, ms);
}

/** What the index of requests holds, tag and row by turns. */
export function requestEntries({ ledger, requestI }: Tables): Int32Array {
  const ends = Array.from({ length: REALMS }, (_, realm) => ledger[Ledger.requests + realm]!);
  const kept = ends.reduce((sum, end) => sum + Math.min(end, REQUESTS_KEPT), 0);
  const entries = new Int32Array(2 * kept);
  let at = 0;
  for (const [realm, end] of ends.entries()) {
    for (let n = Math.max(0, end - REQUESTS_KEPT); n < end; n++) {
      const row = rowOf(realm, n);
      entries[at] = tagOf(requestI, (row << REQUEST_I) + Request.key, REQUEST_KEY_WORDS);
      entries[at + 1] = row + 1;
      at += 2;
    }
  }
  return entries;
}
