/**
 * Bytes of records that are committed together: a head, then the records as log/record.ts has them.
 *
 *   0   bytes of the head u32, a multiple of 8
 *   4   the head as JSON, then blanks
 *   ... records, without gaps
 *
 * It lies in one value, or, where it is too long for one request, in several: the first value has the head,
 * which says how many follow.
 */
import assert from 'node:assert/strict';
import { LogDamage, type LogEntry } from '../log/log.ts';
import { readRecord, recordBytes, type StoredRecord, writeRecord } from '../log/record.ts';
import type { Group } from './certain.ts';
import { isTail, type Tail } from './replicated-log.ts';

const FORMAT = 1;
/** Longer than any head: its numbers have at most 16 digits, and the name of a writer 81 characters. */
const HEAD_BYTES = 384;
/** With head and tail it is a request below 1 MiB, of the 1.5 MiB that etcd takes by default. */
const VALUE_BYTES_MAX = 2 ** 20 - 2 ** 14;

export interface GroupHead {
  readonly format: number;
  readonly first: number;
  readonly tail: Tail;
  /** Number of values that hold the group. */
  readonly values: number;
}

export interface EncodedGroup extends Group {
  readonly values: readonly Buffer[];
}

/** The entries follow `expected`, or begin an empty log. */
export function encodeGroup(
  expected: Tail,
  entries: readonly LogEntry[],
  writer: string,
  epoch: number,
): EncodedGroup {
  const recordsBytes = entries.reduce((sum, { payload }) => sum + recordBytes(payload.length), 0);
  const out = Buffer.allocUnsafeSlow(HEAD_BYTES + recordsBytes);
  let { link } = expected;
  let at = HEAD_BYTES;
  for (const entry of entries) {
    link = writeRecord(out, at, entry, link, expected.sequence);
    at += recordBytes(entry.payload.length);
  }
  const { after: digest, sequence } = entries.at(-1)!;
  const bytes = expected.bytes + recordsBytes;
  const tail: Tail = { sequence, digest, link, bytes, epoch, writer };
  const values = Array.from({ length: Math.ceil(out.length / VALUE_BYTES_MAX) }, (_, i) =>
    out.subarray(i * VALUE_BYTES_MAX, (i + 1) * VALUE_BYTES_MAX),
  );
  const first = entries[0]!.sequence;
  writeHead(out, { format: FORMAT, first, tail, values: values.length });
  return { expected, tail, values };
}

function writeHead(out: Buffer, head: GroupHead): void {
  const text = JSON.stringify(head);
  assert(4 + text.length <= HEAD_BYTES, 'a head has room');
  out.fill(' ', 0, HEAD_BYTES);
  out.writeUInt32LE(HEAD_BYTES, 0);
  out.write(text, 4);
}

export class OtherGroupFormat extends LogDamage {}

/** The head of a group's first value. Throws LogDamage; `key` names what is damaged. */
export function decodeHead(key: string, value: Buffer): GroupHead {
  const bytes = value.length < 4 ? 0 : value.readUInt32LE(0);
  let head: Partial<GroupHead> | undefined;
  try {
    head = JSON.parse(value.toString('utf8', 4, bytes)) as Partial<GroupHead>;
  } catch {
    throw new LogDamage(`${key} has no head`);
  }
  if (Number.isSafeInteger(head?.format) && head.format !== FORMAT) {
    throw new OtherGroupFormat(`${key} has format ${head.format}, this node reads ${FORMAT}`);
  }
  const { first, tail, values } = { ...head };
  if (head?.format !== FORMAT || !isTail(tail) || !isCount(first) || !isCount(values)) {
    throw new LogDamage(`${key} has a damaged head`);
  }
  return head as GroupHead;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** The records of a group; `more` are the values after the first one. */
export function decodeRecords(
  key: string,
  value: Buffer,
  more: readonly Buffer[],
): readonly StoredRecord[] {
  const first = value.subarray(value.readUInt32LE(0));
  const body = more.length === 0 ? first : Buffer.concat([first, ...more]);
  const records: StoredRecord[] = [];
  for (let at = 0; at < body.length; ) {
    const record = readRecord(body, at);
    if (typeof record === 'string') throw new LogDamage(`a record of ${key}: ${record}`);
    records.push(record);
    at += record.bytes;
  }
  return records;
}
