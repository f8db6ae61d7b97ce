/**
 * Control records: durable state of the node that the engine does not interpret. Each is a command of the log
 * (engine/commands.ts) with a kind and bytes:
 *
 *    1 key issued               id (16) | address (20) | nonce, ASCII digits
 *    2 key revoked              the same
 *    3 read-only key issued     the same; the nonce is its number among those of its address
 *    4 read-only key revoked    the same
 *    5 wallet banned            address (20) | since f64, unix milliseconds | reason, UTF-8
 *    6 ban lifted               address (20)
 *    7 venue paused             since f64 | reason, UTF-8
 *    8 venue resumed            nothing
 *    9 watched for silence      address (20)
 *   10 not watched any more     address (20)
 *   11 catalog in use           SHA-256 of its generation (32)
 *   13 wallet named             address (20) | name, UTF-8; without one it has none any more
 *   14 lead handed over         JSON of the node that led, of who asked, and of the reasons; in the first record of an epoch
 *   19 fault of the venue       since f64, unix milliseconds | seconds f64, 0 = until it is cleared | milliseconds f64 | kind, ASCII
 *   20 fault cleared            kind, ASCII
 *   21 profile of a wallet     address (20) | 1 = hidden u8 | display name, ASCII; empty = none
 *   24 season named            number u32 (big-endian) | name, UTF-8
 *   35 message to everybody    since f64 | text, UTF-8; nothing = there is none any more
 *   36 liquidity of a market   condition (32) | depth f64 | centre f64 | paid in f64 | paid out f64
 *
 * Each record holds the whole state of its subject: the last one decides, and a repeated one changes nothing.
 * An unknown kind comes from a newer version and stops the reader.
 *
 * Thread: any; pure.
 */
import assert from 'node:assert/strict';
import {
  CommandBuffer,
  CommandKind,
  ControlRecordCommand,
  commandKind,
  commandWords,
  controlRecordBytes,
  encodeControlRecord,
} from '../../engine/commands.ts';

const ControlRecordKind = {
  keyIssued: 1,
  keyRevoked: 2,
  readOnlyKeyIssued: 3,
  readOnlyKeyRevoked: 4,
  banned: 5,
  banLifted: 6,
  paused: 7,
  resumed: 8,
  watched: 9,
  unwatched: 10,
  catalog: 11,
  named: 13,
  handover: 14,
  faultMade: 19,
  faultCleared: 20,
  profile: 21,
  season: 24,
  message: 35,
  liquidity: 36,
} as const;

/** Row of a key. Secret and passphrase are derived from it and the node key. */
export interface KeyRow {
  /**
   * Lower-case UUID text. An API key is its own id. A read-only key is a secret, so its id is a name from which
   * the key cannot be computed.
   */
  readonly id: string;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** uint256 text: the signed nonce of an API key, or the number of a read-only key among those of its address. */
  readonly nonce: string;
  readonly revoked: boolean;
  readonly readOnly: boolean;
}

export interface Decision {
  /** Unix milliseconds. */
  readonly since: number;
  readonly reason: string;
}

/** Fault that the whole venue shows (docs/protocol.md#faults). */
export interface FaultDecision {
  /** Unix milliseconds. */
  readonly since: number;
  /** Seconds of its first phase; 0 = until it is cleared. */
  readonly seconds: number;
  /** Milliseconds whose meaning the kind has; 0 where it has none. */
  readonly ms: number;
}

/** Maker of the house in a market (docs/protocol.md#liquidity-of-the-house); whole micro-shares and micro-units. */
export interface LiquidityTerms {
  /** 0 = it quotes nothing. */
  readonly depth: number;
  readonly centre: number;
  /** Sums of the deposits and the withdrawals of its account. */
  readonly paidIn: number;
  readonly paidOut: number;
}

export interface HandoverRecord {
  readonly from: string;
  /** Name of the operator who requested it, or `from`. */
  readonly by: string;
  /** Codes of the reasons why `from` was not ready; empty when an operator requested the handover. */
  readonly reasons: readonly string[];
}

export type ControlRecord =
  | { readonly about: 'key'; readonly row: KeyRow }
  /** Without a decision the ban ends, or trading resumes. */
  | { readonly about: 'ban'; readonly address: Uint8Array; readonly decision: Decision | undefined }
  | { readonly about: 'pause'; readonly decision: Decision | undefined }
  /** Message of the operator to everybody: the reason is the text. */
  | { readonly about: 'message'; readonly decision: Decision | undefined }
  | { readonly about: 'watch'; readonly address: Uint8Array; readonly isWatched: boolean }
  /** 64 lower-case hex digits. */
  | { readonly about: 'catalog'; readonly digest: string }
  | { readonly about: 'name'; readonly address: Uint8Array; readonly name: string }
  | {
      readonly about: 'profile';
      readonly address: Uint8Array;
      /** Display name; '' = none. */
      readonly name: string;
      readonly isHidden: boolean;
    }
  | { readonly about: 'season'; readonly number: number; readonly name: string }
  /** Without a decision the fault ends. */
  | {
      readonly about: 'fault';
      readonly kind: string;
      readonly decision: FaultDecision | undefined;
    }
  | {
      readonly about: 'liquidity';
      /** 0x + 64 lower-case hex digits. */
      readonly condition: string;
      readonly terms: LiquidityTerms;
    }
  /** Information for readers of the log; changes no state. */
  | { readonly about: 'handover'; readonly handover: HandoverRecord };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NONCE = /^(0|[1-9][0-9]{0,77})$/;
const NUMBER = /^(0|[1-9][0-9]{0,8})$/;
const UUID_BYTES = 16;
export const ADDRESS_BYTES = 20;
const TIME_BYTES = 8;
export const NUMBER_BYTES = 4;
const DIGEST_BYTES = 32;
const FAULT_BYTES = 3 * TIME_BYTES;
const LIQUIDITY_BYTES = DIGEST_BYTES + 4 * 8;
const NONCE_AT = UUID_BYTES + ADDRESS_BYTES;

export function controlRecordCommand(record: ControlRecord): Int32Array {
  const out = new CommandBuffer(64);
  addControlRecord(out, record);
  return out.i32.slice(0, out.words);
}

export function addControlRecord(out: CommandBuffer, record: ControlRecord): void {
  encodeControlRecord(out, kindOf(record), bytesOf(record));
}

/** Yields the control records among commands, in order. Throws an Error that names an unknown kind. */
export function* controlRecordsOf(i32: Int32Array): Generator<ControlRecord> {
  for (let at = 0; at < i32.length; at += commandWords(i32, at)) {
    if (commandKind(i32, at) !== CommandKind.controlRecord) continue;
    const kind = i32[at + ControlRecordCommand.kind]!;
    const record = recordOf(kind, Buffer.from(controlRecordBytes(i32, at)));
    if (record === undefined) {
      throw new Error(`a note of kind ${kind} cannot be read: a newer version wrote it`);
    }
    yield record;
  }
}

/** Subject of a control record. Of two records with one subject, the later one holds. */
export function subjectOf(record: ControlRecord): string {
  if (record.about === 'key') return `key ${record.row.id}`;
  if (record.about === 'fault') return `fault ${record.kind}`;
  if (record.about === 'liquidity') return `liquidity ${record.condition}`;
  if (record.about === 'season') return `season ${record.number}`;
  if (!('address' in record)) return record.about;
  return `${record.about} ${Buffer.from(record.address).toString('hex')}`;
}

/** True when the record removes the state of its subject. */
export function isEnd(record: ControlRecord): boolean {
  if (record.about === 'watch') return !record.isWatched;
  if (record.about === 'name') return record.name === '';
  if (record.about === 'profile') return record.name === '' && !record.isHidden;
  // No row holds a handover.
  if (record.about === 'handover') return true;
  return 'decision' in record && record.decision === undefined;
}

export function idBytes(id: string): Buffer {
  assert(UUID.test(id), 'a key has a lower-case UUID');
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

export function keyRowOf(
  id: Uint8Array,
  address: Uint8Array,
  nonce: string,
  { readOnly, revoked }: Pick<KeyRow, 'readOnly' | 'revoked'>,
): KeyRow | undefined {
  const isNonce = (readOnly ? NUMBER : NONCE).test(nonce);
  if (id.length !== UUID_BYTES || address.length !== ADDRESS_BYTES || !isNonce) return undefined;
  const hex = Buffer.from(id).toString('hex');
  const part = (from: number, to: number) => hex.slice(from, to);
  return {
    id: `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`,
    address: new Uint8Array(address),
    nonce,
    revoked,
    readOnly,
  };
}

function kindOf(record: ControlRecord): number {
  switch (record.about) {
    case 'key': {
      const { readOnly, revoked } = record.row;
      if (readOnly)
        return revoked ? ControlRecordKind.readOnlyKeyRevoked : ControlRecordKind.readOnlyKeyIssued;
      return revoked ? ControlRecordKind.keyRevoked : ControlRecordKind.keyIssued;
    }
    case 'ban':
      return isEnd(record) ? ControlRecordKind.banLifted : ControlRecordKind.banned;
    case 'pause':
      return isEnd(record) ? ControlRecordKind.resumed : ControlRecordKind.paused;
    case 'message':
      return ControlRecordKind.message;
    case 'watch':
      return isEnd(record) ? ControlRecordKind.unwatched : ControlRecordKind.watched;
    case 'catalog':
      return ControlRecordKind.catalog;
    case 'name':
      return ControlRecordKind.named;
    case 'handover':
      return ControlRecordKind.handover;
    case 'profile':
      return ControlRecordKind.profile;
    case 'season':
      return ControlRecordKind.season;
    case 'fault':
      return isEnd(record) ? ControlRecordKind.faultCleared : ControlRecordKind.faultMade;
    case 'liquidity':
      return ControlRecordKind.liquidity;
  }
}

function bytesOf(record: ControlRecord): Uint8Array {
  switch (record.about) {
    case 'key': {
      const { address, id, nonce } = record.row;
      assert(address.length === ADDRESS_BYTES, 'an address has 20 bytes');
      assert(NONCE.test(nonce), 'a nonce is a uint256');
      return Buffer.concat([idBytes(id), address, Buffer.from(nonce)]);
    }
    case 'ban':
      return Buffer.concat([record.address, decisionBytes(record.decision)]);
    case 'pause':
    case 'message':
      return decisionBytes(record.decision);
    case 'watch':
      return record.address;
    case 'catalog':
      return Buffer.from(record.digest, 'hex');
    case 'name':
      return Buffer.concat([record.address, Buffer.from(record.name)]);
    case 'profile': {
      const { address, isHidden, name } = record;
      return Buffer.concat([address, Buffer.of(isHidden ? 1 : 0), Buffer.from(name)]);
    }
    case 'season':
      return Buffer.concat([numberBytes(record.number), Buffer.from(record.name)]);
    case 'handover': {
      const { by, from, reasons } = record.handover;
      return Buffer.from(JSON.stringify({ from, by, reasons }));
    }
    case 'fault':
      return Buffer.concat([faultBytes(record.decision), Buffer.from(record.kind)]);
    case 'liquidity': {
      const { centre, depth, paidIn, paidOut } = record.terms;
      const condition = Buffer.from(record.condition.slice(2), 'hex');
      return Buffer.concat([condition, doubleBytes([depth, centre, paidIn, paidOut])]);
    }
  }
}

/** A number as in a record of a season, and in the key of its row. */
export function numberBytes(number: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUInt32BE(number);
  return bytes;
}

function decisionBytes(decision: Decision | undefined): Buffer {
  if (decision === undefined) return Buffer.alloc(0);
  const since = Buffer.alloc(TIME_BYTES);
  since.writeDoubleLE(decision.since);
  return Buffer.concat([since, Buffer.from(decision.reason)]);
}

function faultBytes(decision: FaultDecision | undefined): Buffer {
  if (decision === undefined) return Buffer.alloc(0);
  const { ms, seconds, since } = decision;
  return doubleBytes([since, seconds, ms]);
}

function doubleBytes(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [i, value] of values.entries()) bytes.writeDoubleLE(value, i * 8);
  return bytes;
}

function recordOf(kind: number, bytes: Buffer): ControlRecord | undefined {
  const address = new Uint8Array(bytes.subarray(0, ADDRESS_BYTES));
  switch (kind) {
    case ControlRecordKind.keyIssued:
    case ControlRecordKind.keyRevoked:
    case ControlRecordKind.readOnlyKeyIssued:
    case ControlRecordKind.readOnlyKeyRevoked: {
      const id = bytes.subarray(0, UUID_BYTES);
      const row = keyRowOf(
        id,
        bytes.subarray(UUID_BYTES, NONCE_AT),
        bytes.toString('latin1', NONCE_AT),
        {
          revoked:
            kind === ControlRecordKind.keyRevoked || kind === ControlRecordKind.readOnlyKeyRevoked,
          readOnly: kind >= ControlRecordKind.readOnlyKeyIssued,
        },
      );
      return row && { about: 'key', row };
    }
    case ControlRecordKind.banned: {
      const decision = decisionOf(bytes.subarray(ADDRESS_BYTES));
      return decision && { about: 'ban', address, decision };
    }
    case ControlRecordKind.banLifted:
      return ofAddress(bytes, { about: 'ban', address, decision: undefined });
    case ControlRecordKind.paused: {
      const decision = decisionOf(bytes);
      return decision && { about: 'pause', decision };
    }
    case ControlRecordKind.resumed:
      return { about: 'pause', decision: undefined };
    case ControlRecordKind.message:
      return messageOf(bytes);
    case ControlRecordKind.watched:
    case ControlRecordKind.unwatched:
      return ofAddress(bytes, {
        about: 'watch',
        address,
        isWatched: kind === ControlRecordKind.watched,
      });
    case ControlRecordKind.catalog:
      if (bytes.length !== DIGEST_BYTES) return undefined;
      return { about: 'catalog', digest: bytes.toString('hex') };
    case ControlRecordKind.named:
      if (bytes.length < ADDRESS_BYTES) return undefined;
      return { about: 'name', address, name: bytes.toString('utf8', ADDRESS_BYTES) };
    case ControlRecordKind.handover:
      return handoverOf(bytes);
    case ControlRecordKind.profile:
      if (bytes.length <= ADDRESS_BYTES) return undefined;
      return {
        about: 'profile',
        address,
        name: bytes.toString('latin1', ADDRESS_BYTES + 1),
        isHidden: bytes[ADDRESS_BYTES] === 1,
      };
    case ControlRecordKind.season:
      return seasonOf(bytes);
    case ControlRecordKind.faultMade:
      return faultOf(bytes);
    case ControlRecordKind.faultCleared:
      return { about: 'fault', kind: bytes.toString('latin1'), decision: undefined };
    case ControlRecordKind.liquidity:
      return liquidityOf(bytes);
    default:
      return undefined;
  }
}

function ofAddress(bytes: Buffer, record: ControlRecord): ControlRecord | undefined {
  return bytes.length === ADDRESS_BYTES ? record : undefined;
}

function decisionOf(bytes: Buffer): Decision | undefined {
  if (bytes.length < TIME_BYTES) return undefined;
  return { since: bytes.readDoubleLE(0), reason: bytes.toString('utf8', TIME_BYTES) };
}

function messageOf(bytes: Buffer): ControlRecord | undefined {
  const decision = decisionOf(bytes);
  return bytes.length > 0 && decision === undefined ? undefined : { about: 'message', decision };
}

function seasonOf(bytes: Buffer): ControlRecord | undefined {
  if (bytes.length <= NUMBER_BYTES) return undefined;
  const number = bytes.readUInt32BE(0);
  return { about: 'season', number, name: bytes.toString('utf8', NUMBER_BYTES) };
}

function faultOf(bytes: Buffer): ControlRecord | undefined {
  if (bytes.length <= FAULT_BYTES) return undefined;
  const [since, seconds, ms] = [0, 8, 16].map((at) => bytes.readDoubleLE(at));
  const decision = { since: since!, seconds: seconds!, ms: ms! };
  return { about: 'fault', kind: bytes.toString('latin1', FAULT_BYTES), decision };
}

function liquidityOf(bytes: Buffer): ControlRecord | undefined {
  if (bytes.length !== LIQUIDITY_BYTES) return undefined;
  const condition = `0x${bytes.toString('hex', 0, DIGEST_BYTES)}`;
  const at = (i: number): number => bytes.readDoubleLE(DIGEST_BYTES + i * 8);
  const terms = { depth: at(0), centre: at(1), paidIn: at(2), paidOut: at(3) };
  return { about: 'liquidity', condition, terms };
}

function handoverOf(bytes: Buffer): ControlRecord | undefined {
  try {
    const { by, from, reasons } = JSON.parse(bytes.toString()) as HandoverRecord;
    const isWhole = typeof by === 'string' && typeof from === 'string' && Array.isArray(reasons);
    return isWhole ? { about: 'handover', handover: { from, by, reasons } } : undefined;
  } catch {
    return undefined;
  }
}
