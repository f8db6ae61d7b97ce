/**
 * Request ids: a request is applied once. Ids that begin with unix milliseconds have a ring for operators and one
 * for users. Each ring holds the newest; an id not later than a forgotten one is refused. Ids of operators that are
 * texts have a table of their own: each stays for TEXT_ID_KEPT_MS of batch time, and a full table refuses. Rules:
 * docs/ledger.md#request-ids
 */
import { assert } from '../book/matching.ts';
import { hasTextId, RequestFlag, RequestId, requestKind } from '../commands.ts';
import type { EngineContext } from '../context.ts';
import {
  REQUEST_AHEAD_MS,
  REQUEST_ROWS,
  REQUESTS_KEPT,
  TEXT_ID_KEPT_MS,
  TEXT_IDS_FORGOTTEN_MAX,
} from '../tables/capacities.ts';
import { REQUEST_KEY_WORDS } from '../tables/codes.ts';
import {
  byRegion,
  home,
  indexInsert,
  indexRemove,
  next,
  sameWords,
  tagOf,
} from '../tables/hash-index.ts';
import { Ledger, REQUEST_F, REQUEST_I, Request } from '../tables/layout.ts';
import { REALMS, type Tables } from '../tables/tables.ts';

export interface StoredRequest {
  readonly kind: number;
  /** Account of the wallet, or the negated row of a market. */
  readonly subject: number;
  /** Market, or account of a signer. */
  readonly other: number;
  readonly amount: number;
  /** Cash of the wallet after it, or remaining fees of the venue; 0 for a resolution. */
  readonly result: number;
  /** Unix milliseconds of its batch. */
  readonly time: number;
}

export type RequestFacts = Pick<StoredRequest, 'amount' | 'other' | 'result' | 'subject'>;

interface Rows {
  readonly i32: Int32Array;
  readonly f64: Float64Array;
  readonly index: Int32Array;
}

const rowsOfRings = (t: Tables): Rows => ({
  i32: t.requestI,
  f64: t.requestF,
  index: t.requestIndex,
});
const rowsOfTexts = (t: Tables): Rows => ({
  i32: t.operatorIdI,
  f64: t.operatorIdF,
  index: t.operatorIdIndex,
});

function realmOf(i32: Int32Array, at: number): number {
  return (i32[at + 1]! & RequestFlag.operator) !== 0 ? 0 : 1;
}

export function findRequest(
  t: Tables,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  time: number,
): StoredRequest | undefined {
  const isText = hasTextId(i32, at);
  const rows = isText ? rowsOfTexts(t) : rowsOfRings(t);
  const realm = realmOf(i32, at);
  const ms = f64[at / 2 + RequestId.ms]!;
  const key = at + RequestId.key;
  const tag = tagOf(i32, key, REQUEST_KEY_WORDS);
  for (let entry = home(rows.index, tag); ; entry = next(rows.index, entry)) {
    const found = rows.index[2 * entry + 1]!;
    if (found === 0) return undefined;
    if (rows.index[2 * entry] !== tag) continue;
    const row = found - 1;
    if (!sameWords(rows.i32, (row << REQUEST_I) + Request.key, i32, key, REQUEST_KEY_WORDS))
      continue;
    const d = row << REQUEST_F;
    // An expired text may stand beside its next use.
    const isSame = isText
      ? !hasExpired(rows.f64[d + Request.time]!, time)
      : Math.floor(row / REQUEST_ROWS) === realm && rows.f64[d + Request.ms] === ms;
    if (isSame) return stored(rows, row);
  }
}

function stored({ f64, i32 }: Rows, row: number): StoredRequest {
  const w = row << REQUEST_I;
  const d = row << REQUEST_F;
  return {
    kind: i32[w + Request.kind]!,
    subject: i32[w + Request.subject]!,
    other: i32[w + Request.other]!,
    amount: f64[d + Request.amount]!,
    result: f64[d + Request.result]!,
    time: f64[d + Request.time]!,
  };
}

function hasExpired(entered: number, time: number): boolean {
  return time - entered >= TEXT_ID_KEPT_MS;
}

export function checkRequest(
  { t, time }: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
): 'idInvalid' | 'idTooOld' | 'idsFull' | undefined {
  if (hasTextId(i32, at)) return hasTextRoom(t, time) ? undefined : 'idsFull';
  const ms = f64[at / 2 + RequestId.ms]!;
  if (!Number.isInteger(ms) || ms < 0 || ms > time + REQUEST_AHEAD_MS) return 'idInvalid';
  const forgotten = t.ledger[Ledger.forgotten + realmOf(i32, at)]!;
  return ms > forgotten ? undefined : 'idTooOld';
}

function hasTextRoom(t: Tables, time: number): boolean {
  const { capacities, ledger } = t;
  const first = ledger[Ledger.firstOperatorId]!;
  const isFull = ledger[Ledger.operatorIds]! - first >= capacities.operatorIds;
  return !isFull || (capacities.operatorIds > 0 && hasExpired(textTime(t, first), time));
}

function textTime(t: Tables, sequence: number): number {
  return t.operatorIdF[(textRow(t, sequence) << REQUEST_F) + Request.time]!;
}

function textRow({ operatorIdRows }: Tables, sequence: number): number {
  return sequence % operatorIdRows;
}

export function enterRequest(
  context: EngineContext,
  i32: Int32Array,
  f64: Float64Array,
  at: number,
  facts: RequestFacts,
): void {
  const isText = hasTextId(i32, at);
  const row = isText ? nextTextRow(context) : nextRingRow(context.t, realmOf(i32, at));
  const rows = isText ? rowsOfTexts(context.t) : rowsOfRings(context.t);
  const d = row << REQUEST_F;
  const w = row << REQUEST_I;
  rows.f64[d + Request.ms] = f64[at / 2 + RequestId.ms]!;
  rows.f64[d + Request.amount] = facts.amount;
  rows.f64[d + Request.result] = facts.result;
  rows.f64[d + Request.time] = context.time;
  const key = at + RequestId.key;
  for (let i = 0; i < REQUEST_KEY_WORDS; i++) rows.i32[w + Request.key + i] = i32[key + i]!;
  rows.i32[w + Request.kind] = requestKind(i32, at);
  rows.i32[w + Request.subject] = facts.subject;
  rows.i32[w + Request.other] = facts.other;
  indexInsert(rows.index, tagOf(i32, key, REQUEST_KEY_WORDS), row + 1);
}

function nextRingRow(t: Tables, realm: number): number {
  const { ledger } = t;
  const sequence = ledger[Ledger.requests + realm]!;
  if (sequence >= REQUESTS_KEPT) forget(t, realm, sequence - REQUESTS_KEPT);
  ledger[Ledger.requests + realm] = sequence + 1;
  return rowOf(realm, sequence);
}

function rowOf(realm: number, sequence: number): number {
  return realm * REQUEST_ROWS + (sequence % REQUEST_ROWS);
}

function forget(t: Tables, realm: number, sequence: number): void {
  const { ledger, requestF } = t;
  const row = rowOf(realm, sequence);
  removeFromIndex(rowsOfRings(t), row);
  const ms = requestF[(row << REQUEST_F) + Request.ms]!;
  ledger[Ledger.forgotten + realm] = Math.max(ledger[Ledger.forgotten + realm]!, ms);
}

/** Returns the next row of text ids. Removes a bounded number of expired ones first. */
function nextTextRow({ t, time }: EngineContext): number {
  const { capacities, ledger } = t;
  const sequence = ledger[Ledger.operatorIds]!;
  let first = ledger[Ledger.firstOperatorId]!;
  for (let left = TEXT_IDS_FORGOTTEN_MAX; left > 0 && first < sequence; left--) {
    if (!hasExpired(textTime(t, first), time)) break;
    removeFromIndex(rowsOfTexts(t), textRow(t, first));
    first += 1;
  }
  ledger[Ledger.firstOperatorId] = first;
  ledger[Ledger.operatorIds] = sequence + 1;
  const used = sequence + 1 - first;
  assert(used <= capacities.operatorIds, 'there is room for an id before it is entered');
  ledger[Ledger.operatorIdsMost] = Math.max(ledger[Ledger.operatorIdsMost]!, used);
  return textRow(t, sequence);
}

function removeFromIndex({ i32, index }: Rows, row: number): void {
  const tag = tagOf(i32, (row << REQUEST_I) + Request.key, REQUEST_KEY_WORDS);
  assert(indexRemove(index, tag, row + 1), 'a request is known by its id');
}

export function requestEntries(t: Tables): Int32Array {
  const ends = Array.from({ length: REALMS }, (_, realm) => t.ledger[Ledger.requests + realm]!);
  const kept = ends.reduce((sum, end) => sum + Math.min(end, REQUESTS_KEPT), 0);
  const entries = new IndexEntries(rowsOfRings(t), kept);
  for (const [realm, end] of ends.entries()) {
    for (let n = Math.max(0, end - REQUESTS_KEPT); n < end; n++) entries.add(rowOf(realm, n));
  }
  return entries.words;
}

export function textIdEntries(t: Tables): Int32Array {
  const first = t.ledger[Ledger.firstOperatorId]!;
  const end = t.ledger[Ledger.operatorIds]!;
  const entries = new IndexEntries(rowsOfTexts(t), end - first);
  for (let n = first; n < end; n++) entries.add(textRow(t, n));
  return entries.words;
}

class IndexEntries {
  readonly words: Int32Array;
  private readonly rows: Rows;
  private at = 0;

  constructor(rows: Rows, count: number) {
    this.rows = rows;
    this.words = new Int32Array(2 * count);
  }

  add(row: number): void {
    const { i32 } = this.rows;
    this.words[this.at] = tagOf(i32, (row << REQUEST_I) + Request.key, REQUEST_KEY_WORDS);
    this.words[this.at + 1] = row + 1;
    this.at += 2;
  }
}

export function auditTextIds(t: Tables): void {
  const { capacities, ledger, operatorIdIndex: index } = t;
  if (ledger[Ledger.operatorIds] === 0) return;
  const first = ledger[Ledger.firstOperatorId]!;
  const end = ledger[Ledger.operatorIds]!;
  assert(end - first <= capacities.operatorIds, 'kept ids have room');
  assert(end - first <= ledger[Ledger.operatorIdsMost]!, 'the most ids ever kept are counted');
  for (let n = first + 1; n < end; n++) {
    assert(textTime(t, n - 1) <= textTime(t, n), 'ids are kept in the order of their time');
  }
  const entries = byRegion(index, textIdEntries(t));
  for (let i = 0; i < entries.length; i += 2) {
    let at = home(index, entries[i]!);
    while (index[2 * at + 1] !== entries[i + 1]) {
      assert(index[2 * at + 1] !== 0, 'a kept id is found');
      at = next(index, at);
    }
  }
  let used = 0;
  for (let at = 1; at < index.length; at += 2) if (index[at] !== 0) used += 1;
  assert(2 * used === entries.length, 'the index of ids has an entry for each that is kept');
}
