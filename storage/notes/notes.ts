/**
 * Notes: what has to survive and is nothing to the engine. A note is a command of the log (engine/commands.ts)
 * with one of these kinds, and these bytes:
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
 *
 * Each says all of what it is about, so the last one about a thing decides, and a note that comes twice changes
 * nothing. A kind that is not here is of a newer version, and stops whoever reads it.
 *
 * Thread: any; pure.
 */
import assert from 'node:assert/strict';
import {
  CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  encodeNote,
  NoteCommand,
  noteBytes,
} from '../../engine/commands.ts';

const NoteKind = {
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
} as const;

/** A key, and whether it is revoked. Secret and passphrase follow from it and the node key. */
export interface KeyRow {
  /**
   * Lower-case UUID text. For an API key: the key. For a read-only key, which is itself a secret: a
   * name from which the key cannot be computed.
   */
  readonly id: string;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /**
   * uint256 text. For an API key: the signed nonce. For a read-only key: its number among the keys
   * of its address.
   */
  readonly nonce: string;
  readonly revoked: boolean;
  readonly readOnly: boolean;
}

/** What an operator has decided: since when, and what for. */
export interface Decision {
  /** Unix milliseconds. */
  readonly since: number;
  readonly reason: string;
}

/** The end of a lead that was handed over. */
export interface HandoverNote {
  /** The node that led. */
  readonly from: string;
  /** The operator who asked for it, or that node itself. */
  readonly by: string;
  /** Codes of the reasons why that node was not ready; none where an operator asked. */
  readonly reasons: readonly string[];
}

export type Note =
  | { readonly about: 'key'; readonly row: KeyRow }
  /** Without a decision the ban is lifted. */
  | { readonly about: 'ban'; readonly address: Uint8Array; readonly decision: Decision | undefined }
  /** Without one the venue is resumed. */
  | { readonly about: 'pause'; readonly decision: Decision | undefined }
  | { readonly about: 'watch'; readonly address: Uint8Array; readonly isWatched: boolean }
  /** 64 lower-case hex digits. */
  | { readonly about: 'catalog'; readonly digest: string }
  /** An empty name: it has none any more. */
  | { readonly about: 'name'; readonly address: Uint8Array; readonly name: string }
  /** For who reads the log: nothing follows from it. */
  | { readonly about: 'handover'; readonly handover: HandoverNote };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NONCE = /^(0|[1-9][0-9]{0,77})$/;
const NUMBER = /^(0|[1-9][0-9]{0,8})$/;
const UUID_BYTES = 16;
export const ADDRESS_BYTES = 20;
const TIME_BYTES = 8;
const DIGEST_BYTES = 32;
const NONCE_AT = UUID_BYTES + ADDRESS_BYTES;

/** The command of a note. */
export function noteCommand(note: Note): Int32Array {
  const out = new CommandBuffer(64);
  addNote(out, note);
  return out.i32.slice(0, out.words);
}

/** Adds the command of a note to others. */
export function addNote(out: CommandBuffer, note: Note): void {
  encodeNote(out, kindOf(note), bytesOf(note));
}

/** The notes among commands, in their order. Throws an Error that says which cannot be read. */
export function* notesOf(i32: Int32Array): Generator<Note> {
  for (let at = 0; at < i32.length; at += commandWords(i32, at)) {
    if (commandKind(i32, at) !== CommandKind.note) continue;
    const kind = i32[at + NoteCommand.kind]!;
    const note = noteOf(kind, Buffer.from(noteBytes(i32, at)));
    if (note === undefined) {
      throw new Error(`a note of kind ${kind} cannot be read: a newer version wrote it`);
    }
    yield note;
  }
}

/** What a note is about: of two with the same, the later one holds. */
export function subjectOf(note: Note): string {
  if (note.about === 'key') return `key ${note.row.id}`;
  if (note.about === 'pause' || note.about === 'catalog' || note.about === 'handover')
    return note.about;
  return `${note.about} ${Buffer.from(note.address).toString('hex')}`;
}

/** Whether what the note says is that something ended. */
export function isEnd(note: Note): boolean {
  if (note.about === 'watch') return !note.isWatched;
  if (note.about === 'name') return note.name === '';
  // Nothing of it is kept.
  if (note.about === 'handover') return true;
  return (note.about === 'ban' || note.about === 'pause') && note.decision === undefined;
}

export function idBytes(id: string): Buffer {
  assert(UUID.test(id), 'a key has a lower-case UUID');
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** The row of a key from its bytes; undefined where they are none. */
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

function kindOf(note: Note): number {
  switch (note.about) {
    case 'key': {
      const { readOnly, revoked } = note.row;
      if (readOnly) return revoked ? NoteKind.readOnlyKeyRevoked : NoteKind.readOnlyKeyIssued;
      return revoked ? NoteKind.keyRevoked : NoteKind.keyIssued;
    }
    case 'ban':
      return isEnd(note) ? NoteKind.banLifted : NoteKind.banned;
    case 'pause':
      return isEnd(note) ? NoteKind.resumed : NoteKind.paused;
    case 'watch':
      return isEnd(note) ? NoteKind.unwatched : NoteKind.watched;
    case 'catalog':
      return NoteKind.catalog;
    case 'name':
      return NoteKind.named;
    case 'handover':
      return NoteKind.handover;
  }
}

function bytesOf(note: Note): Uint8Array {
  switch (note.about) {
    case 'key': {
      const { address, id, nonce } = note.row;
      assert(address.length === ADDRESS_BYTES, 'an address has 20 bytes');
      assert(NONCE.test(nonce), 'a nonce is a uint256');
      return Buffer.concat([idBytes(id), address, Buffer.from(nonce)]);
    }
    case 'ban':
      return Buffer.concat([note.address, decisionBytes(note.decision)]);
    case 'pause':
      return decisionBytes(note.decision);
    case 'watch':
      return note.address;
    case 'catalog':
      return Buffer.from(note.digest, 'hex');
    case 'name':
      return Buffer.concat([note.address, Buffer.from(note.name)]);
    case 'handover': {
      const { by, from, reasons } = note.handover;
      return Buffer.from(JSON.stringify({ from, by, reasons }));
    }
  }
}

function decisionBytes(decision: Decision | undefined): Buffer {
  if (decision === undefined) return Buffer.alloc(0);
  const since = Buffer.alloc(TIME_BYTES);
  since.writeDoubleLE(decision.since);
  return Buffer.concat([since, Buffer.from(decision.reason)]);
}

/** Undefined where it cannot be read. */
function noteOf(kind: number, bytes: Buffer): Note | undefined {
  const address = new Uint8Array(bytes.subarray(0, ADDRESS_BYTES));
  switch (kind) {
    case NoteKind.keyIssued:
    case NoteKind.keyRevoked:
    case NoteKind.readOnlyKeyIssued:
    case NoteKind.readOnlyKeyRevoked: {
      const id = bytes.subarray(0, UUID_BYTES);
      const row = keyRowOf(
        id,
        bytes.subarray(UUID_BYTES, NONCE_AT),
        bytes.toString('latin1', NONCE_AT),
        {
          revoked: kind === NoteKind.keyRevoked || kind === NoteKind.readOnlyKeyRevoked,
          readOnly: kind >= NoteKind.readOnlyKeyIssued,
        },
      );
      return row && { about: 'key', row };
    }
    case NoteKind.banned: {
      const decision = decisionOf(bytes.subarray(ADDRESS_BYTES));
      return decision && { about: 'ban', address, decision };
    }
    case NoteKind.banLifted:
      return ofAddress(bytes, { about: 'ban', address, decision: undefined });
    case NoteKind.paused: {
      const decision = decisionOf(bytes);
      return decision && { about: 'pause', decision };
    }
    case NoteKind.resumed:
      return { about: 'pause', decision: undefined };
    case NoteKind.watched:
    case NoteKind.unwatched:
      return ofAddress(bytes, { about: 'watch', address, isWatched: kind === NoteKind.watched });
    case NoteKind.catalog:
      if (bytes.length !== DIGEST_BYTES) return undefined;
      return { about: 'catalog', digest: bytes.toString('hex') };
    case NoteKind.named:
      if (bytes.length < ADDRESS_BYTES) return undefined;
      return { about: 'name', address, name: bytes.toString('utf8', ADDRESS_BYTES) };
    case NoteKind.handover:
      return handoverOf(bytes);
    default:
      return undefined;
  }
}

function ofAddress(bytes: Buffer, note: Note): Note | undefined {
  return bytes.length === ADDRESS_BYTES ? note : undefined;
}

function decisionOf(bytes: Buffer): Decision | undefined {
  if (bytes.length < TIME_BYTES) return undefined;
  return { since: bytes.readDoubleLE(0), reason: bytes.toString('utf8', TIME_BYTES) };
}

function handoverOf(bytes: Buffer): Note | undefined {
  try {
    const { by, from, reasons } = JSON.parse(bytes.toString()) as HandoverNote;
    const isWhole = typeof by === 'string' && typeof from === 'string' && Array.isArray(reasons);
    return isWhole ? { about: 'handover', handover: { from, by, reasons } } : undefined;
  } catch {
    return undefined;
  }
}
