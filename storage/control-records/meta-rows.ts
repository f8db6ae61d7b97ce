/**
 * Rows of the table `meta` of keys/ (control-record-store.ts), by the prefix of their LMDB key:
 *
 *   ban/ and an address         JSON of the decision
 *   heartbeat/ and an address   nothing: the wallet must send heartbeats
 *   name/ and an address        the name of a wallet, UTF-8
 *   profile/ and an address     1 = hidden u8 | the display name of a wallet, ASCII
 *   season/ and a number u32    the name of a season, UTF-8
 *   fault/ and a kind           JSON of the decision
 *   liquidity/ and a condition  JSON of its terms
 *   pause                       JSON of the decision
 *   message                     JSON of the decision
 *   catalog                     the digest of the generation in use, 32 bytes
 *   position                    batch f64 | the engine's digest after it f64
 *
 * Value: crc u32 of key and value | version | what is named above.
 *
 * Thread: any; pure.
 */
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import {
  ADDRESS_BYTES,
  type ControlRecord,
  type Decision,
  type FaultDecision,
  isEnd,
  type LiquidityTerms,
  NUMBER_BYTES,
  numberBytes,
} from './control-records.ts';
import { ADVICE } from './key-rows.ts';

const VERSION = 1;
/** The first one had no checksum. */
const VERSION_WATCHED = 2;
const BODY_AT = CRC_BYTES + 1;
const BAN = 'ban/';
const WATCHED = 'heartbeat/';
const NAMED = 'name/';
const PROFILE = 'profile/';
const SEASON = 'season/';
const FAULT = 'fault/';
const LIQUIDITY = 'liquidity/';
const PAUSE = 'pause';
const MESSAGE = 'message';
const CATALOG = 'catalog';
const DIGEST_BYTES = 32;

/** Batch up to which the rows hold the log. */
export interface ControlRecordPosition {
  readonly sequence: number;
  /** The engine's digest after that batch. */
  readonly digest: number;
}

export const POSITION = Buffer.from('position');
const POSITION_BYTES = 16;

export type MetaRecord = Exclude<ControlRecord, { readonly about: 'key' | 'handover' }>;

/** Returns the row that a record sets; without a value the row is removed. */
export function metaRow(record: MetaRecord): { readonly key: Buffer; readonly value?: Buffer } {
  const key = keyOf(record);
  return isEnd(record) ? { key } : { key, value: encode(key, bodyOf(record)) };
}

/** Returns the record that set a row; `undefined` for the position and probes. Throws an Error that names a damaged row. */
export function metaRecordOf(key: Buffer, value: Buffer): MetaRecord | undefined {
  const after = (prefix: string): Uint8Array | undefined => {
    const isOf = key.toString('latin1', 0, prefix.length) === prefix;
    return isOf ? new Uint8Array(key.subarray(prefix.length)) : undefined;
  };
  const banned = after(BAN);
  const watched = after(WATCHED);
  const named = after(NAMED);
  const profile = after(PROFILE);
  const season = after(SEASON);
  const fault = after(FAULT);
  const liquidity = after(LIQUIDITY);
  const name = key.toString('latin1');
  const prefixed = banned ?? watched ?? named ?? profile ?? season ?? fault ?? liquidity;
  if (prefixed === undefined && ![PAUSE, MESSAGE, CATALOG].includes(name)) return undefined;
  const body = decode(key, value, watched === undefined ? VERSION : VERSION_WATCHED);
  if (name === PAUSE) return { about: 'pause', decision: decisionOf(body) };
  if (name === MESSAGE) return { about: 'message', decision: decisionOf(body) };
  if (name === CATALOG && body.length === DIGEST_BYTES) {
    return { about: 'catalog', digest: body.toString('hex') };
  }
  if (banned?.length === ADDRESS_BYTES) {
    return { about: 'ban', address: banned, decision: decisionOf(body) };
  }
  if (named?.length === ADDRESS_BYTES && body.length > 0) {
    return { about: 'name', address: named, name: body.toString() };
  }
  if (profile?.length === ADDRESS_BYTES && body.length > 0) {
    const name = body.toString('latin1', 1);
    return { about: 'profile', address: profile, name, isHidden: body[0] === 1 };
  }
  if (watched?.length === ADDRESS_BYTES && body.length === 0) {
    return { about: 'watch', address: watched, isWatched: true };
  }
  if (season?.length === NUMBER_BYTES && body.length > 0) {
    const number = Buffer.from(season).readUInt32BE(0);
    return { about: 'season', number, name: body.toString() };
  }
  if (fault !== undefined) {
    const decision = JSON.parse(body.toString()) as FaultDecision;
    return { about: 'fault', kind: Buffer.from(fault).toString('latin1'), decision };
  }
  if (liquidity?.length === DIGEST_BYTES) {
    const condition = `0x${Buffer.from(liquidity).toString('hex')}`;
    return { about: 'liquidity', condition, terms: JSON.parse(body.toString()) as LiquidityTerms };
  }
  throw damaged(key);
}

export function encodePosition({ digest, sequence }: ControlRecordPosition): Buffer {
  const body = Buffer.alloc(POSITION_BYTES);
  body.writeDoubleLE(sequence, 0);
  body.writeDoubleLE(digest, 8);
  return encode(POSITION, body);
}

export function decodePosition(value: Buffer): ControlRecordPosition {
  const body = decode(POSITION, value, VERSION);
  if (body.length !== POSITION_BYTES) throw damaged(POSITION);
  return { sequence: body.readDoubleLE(0), digest: body.readDoubleLE(8) };
}

function keyOf(record: MetaRecord): Buffer {
  if (record.about === 'pause') return Buffer.from(PAUSE);
  if (record.about === 'message') return Buffer.from(MESSAGE);
  if (record.about === 'catalog') return Buffer.from(CATALOG);
  if (record.about === 'fault') return Buffer.from(`${FAULT}${record.kind}`);
  if (record.about === 'liquidity') {
    return Buffer.concat([Buffer.from(LIQUIDITY), Buffer.from(record.condition.slice(2), 'hex')]);
  }
  if (record.about === 'season')
    return Buffer.concat([Buffer.from(SEASON), numberBytes(record.number)]);
  return Buffer.concat([Buffer.from(PREFIXES[record.about]), record.address]);
}

const PREFIXES = { ban: BAN, watch: WATCHED, name: NAMED, profile: PROFILE } as const;

function bodyOf(record: MetaRecord): Buffer {
  if (record.about === 'watch') return Buffer.alloc(0);
  if (record.about === 'catalog') return Buffer.from(record.digest, 'hex');
  if (record.about === 'name' || record.about === 'season') return Buffer.from(record.name);
  if (record.about === 'profile') {
    return Buffer.concat([Buffer.of(record.isHidden ? 1 : 0), Buffer.from(record.name)]);
  }
  const value = record.about === 'liquidity' ? record.terms : record.decision;
  return Buffer.from(JSON.stringify(value));
}

function decisionOf(body: Buffer): Decision {
  return JSON.parse(body.toString()) as Decision;
}

function encode(key: Buffer, body: Buffer): Buffer {
  const version = key.toString('latin1').startsWith(WATCHED) ? VERSION_WATCHED : VERSION;
  const value = Buffer.concat([Buffer.alloc(CRC_BYTES), Buffer.of(version), body]);
  return withChecksum(key, value);
}

function decode(key: Buffer, value: Buffer, version: number): Buffer {
  if (!checksumMatches(key, value)) throw damaged(key);
  const found = value[CRC_BYTES];
  if (found !== version) {
    throw new Error(`${nameOf(key)}: found version ${found}, expected ${version}`);
  }
  return value.subarray(BODY_AT);
}

function damaged(key: Buffer): Error {
  return new Error(`${nameOf(key)}: damaged; ${ADVICE}`);
}

function nameOf(key: Buffer): string {
  const slash = key.indexOf('/') + 1;
  const prefix = slash === 0 ? key.toString('latin1') : key.toString('latin1', 0, slash - 1);
  return `${prefix} row of keys ${slash === 0 ? '' : key.toString('hex', slash)}`.trimEnd();
}
