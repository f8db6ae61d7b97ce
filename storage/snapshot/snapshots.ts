/**
 * Snapshots of the engine's memory, files DATA_DIR/images/<batch>.image: the newest two.
 *   tables     the bytes of each span, one after another
 *   JSON       sequence, capacities, which fills of the ring are there, name, place and checksum of each span
 *   last 16    magic u32 | format u32 | bytes of the JSON u32 | crc32 of the JSON u32
 * A file is written under a temporary name and renamed once it is on disk, so a file with its final name
 * is complete. It is written in pieces, each flushed before the next, so that no record of the log waits
 * for hundreds of megabytes.
 * Thread: the projector writes, from tables of its own; the recovering thread reads.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { rebuildIndexes, rebuildOthers } from '../../engine/orders/rebuild.ts';
import type { Capacities } from '../../engine/tables/capacities.ts';
import {
  Agent,
  FILL_WORDS,
  InviteBatch,
  Ledger,
  State,
  type TableName,
} from '../../engine/tables/layout.ts';
import {
  allocateEngine,
  type EngineMemory,
  type Span,
  Tables,
  usedSpans,
} from '../../engine/tables/tables.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { otherFormat } from '../files/other-format.ts';
import { withFile } from '../files/with-file.ts';
import { WordSum } from './snapshot-checksum.ts';

interface StoredSpan {
  readonly name: TableName;
  readonly start: number;
  readonly bytes: number;
  readonly sum: string;
}

/** Span with the byte of the file at which it begins, and the parts of its table that it fills. */
interface PlacedSpan extends StoredSpan {
  readonly from: number;
  readonly parts: readonly Part[];
}

type Part = Pick<StoredSpan, 'bytes' | 'start'>;

export interface SpanJob {
  readonly path: string;
  readonly memory: EngineMemory;
  readonly spans: readonly PlacedSpan[];
}

/** Task for another thread: reads spans, or fills the index of order ids. */
export type LoadTask =
  | ({ readonly kind: 'spans' } & SpanJob)
  | { readonly kind: 'order index'; readonly memory: EngineMemory };

export interface LoadAssistant {
  ask(task: LoadTask): () => string | undefined;
}

interface SnapshotHeader {
  readonly sequence: number;
  readonly capacities: Capacities;
  readonly firstFill: number;
  readonly spans: readonly StoredSpan[];
  /** Fee schedules ever set; absent in older formats. */
  readonly feeSchedules?: number;
  /** Delayed orders, taker delays and unsettled fills ever; absent in older formats. */
  readonly delays?: number;
  /** Relayed batches, and seasons that ended, ever; absent in older formats. */
  readonly relayed?: number;
  /** Codes of invitations ever, and limits of wallets; absent in older formats. */
  readonly invites?: number;
  readonly limits?: number;
  readonly seasons?: number;
  /** Not 0 with accounts of the house. */
  readonly houses?: number;
  /** Agents of wallets ever. */
  readonly agents?: number;
}

export interface SnapshotInfo {
  readonly sequence: number;
  readonly path: string;
}

export interface LoadedSnapshot {
  readonly tables: Tables;
  readonly firstFill: number;
}

const MAGIC = 0x474d4942;
/**
 * Format 4: files, with the newest fills and the tables of the matching core. Format 5: a closed
 * order stays in its row. Format 6: with the tables of a ledger. Formats 7 and 8 are the same without and with a
 * ledger, which may have ids of operators that are texts. Formats 5 and 6 are read as 7 and 8 without such ids.
 * Format 9: a market has or had a fee schedule, with or without a ledger. All else is as in 7 and 8.
 * Format 10: as 9, and a market has or had a taker delay, an order waited for one, a wallet relayed a batch, a fill was
 * not settled at once, or a season has ended; with invitations, limits of wallets, accounts of the house or agents, too.
 */
const FORMAT = 7;
const FORMAT_WITH_LEDGER = 8;
const FORMAT_WITH_SCHEDULES = 9;
const FORMAT_WITH_DELAYS = 10;
const FORMATS_READ: readonly number[] = [5, 6, FORMAT, FORMAT_WITH_LEDGER].concat(
  FORMAT_WITH_SCHEDULES,
  FORMAT_WITH_DELAYS,
);
const FOOTER_BYTES = 16;
const PIECE_BYTES = 1 << 20;
const SNAPSHOTS_RETAINED = 2;
const NAME = /^(\d{16})\.image$/;
const FILL_BYTES = 4 * FILL_WORDS;
const O_DSYNC: number | undefined = constants.O_DSYNC;

export class SnapshotFiles {
  private readonly directory: string;
  private readonly isFlushed: boolean;
  /** Sequences of the snapshots that load() found damaged. They do not count as one of the two. */
  private readonly damaged = new Set<number>();

  constructor(dataDir: string, durability: 'flushed' | 'committed') {
    this.directory = join(dataDir, 'images');
    this.isFlushed = durability === 'flushed';
  }

  /** The newest snapshot and when it was written (unix milliseconds); undefined = there is none. */
  newest(): { readonly sequence: number; readonly at: number } | undefined {
    const [info] = this.list();
    return info && { sequence: info.sequence, at: statSync(info.path).mtimeMs };
  }

  /** Valid snapshots, newest first: those that did not fail to load. */
  list(): SnapshotInfo[] {
    let names: string[];
    try {
      names = readdirSync(this.directory);
    } catch {
      return [];
    }
    return names
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map((digits) => ({
        sequence: Number(digits),
        path: join(this.directory, `${digits}.image`),
      }))
      .filter(({ sequence }) => !this.damaged.has(sequence))
      .sort((a, b) => b.sequence - a.sequence);
  }

  /**
   * Writes a snapshot of tables as they are now, with the fills from `firstFill` on, and removes
   * all but the newest two valid ones. The first step copies the tables; each further step writes a
   * piece, and the tables may change in between. Throws an Error that says why it failed; nothing
   * of the file remains then.
   */
  *save(t: Tables, firstFill: number): Generator<void, SnapshotInfo> {
    const sequence = t.state[State.batch]!;
    const { capacities } = t;
    const feeSchedules = t.state[State.feeSchedules]!;
    const delays =
      t.state[State.delayed]! + t.state[State.takerDelays]! + t.state[State.unsettledEver]!;
    const relayed = t.ledger[Ledger.relayed]!;
    const invites = t.inviteBatchI[InviteBatch.codes]!;
    const limits =
      t.state[State.openOrdersPerWallet]! + t.ledger[Ledger.exposurePerWallet]! > 0 ? 1 : 0;
    const seasons = t.ledger[Ledger.seasons]!;
    const houses = t.ledger[Ledger.newestHouse]!;
    const agents = t.agentI[Agent.rows]!;
    const copies = [...usedSpans(t), ...fillSpans(t, firstFill)].map((span) => ({
      ...span,
      copy: copyOf(t.memory.buffers[span.name].subarray(span.start, span.start + span.bytes)),
    }));
    yield;
    const digits = String(sequence).padStart(16, '0');
    const path = join(this.directory, `${digits}.image`);
    const unfinished = `${path}.tmp`;
    makeDirectory(this.directory);
    let file: number | undefined;
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
      file = openSync(unfinished, flags | (this.isFlushed ? (O_DSYNC ?? 0) : 0), 0o644);
      const spans: StoredSpan[] = [];
      for (const { bytes, copy, name, start } of copies) {
        const sum = new WordSum();
        for (let at = 0; at < bytes; at += PIECE_BYTES) {
          const piece = copy.subarray(at, at + PIECE_BYTES);
          sum.add(piece);
          writeAll(file, piece);
          yield;
        }
        spans.push({ name, start, bytes, sum: sum.text() });
      }
      const ever = { feeSchedules, delays, relayed, seasons, invites, limits, houses, agents };
      writeAll(file, trailerOf({ sequence, capacities, firstFill, spans, ...ever }));
      if (this.isFlushed) fsyncSync(file);
      closeSync(file);
      file = undefined;
      renameSync(unfinished, path);
      if (this.isFlushed) this.syncNames();
    } catch (error) {
      if (file !== undefined) closeSync(file);
      rmSync(unfinished, { force: true });
      throw error;
    }
    this.damaged.delete(sequence);
    this.removeOthers();
    return { sequence, path };
  }

  /**
   * Reads a snapshot into tables of its own capacities. A text says why it cannot be used.
   * @param assistant does half of it in another thread
   */
  load(info: SnapshotInfo, assistant?: LoadAssistant): LoadedSnapshot | string {
    const loaded = readSnapshot(info, assistant);
    if (typeof loaded === 'string') this.skip([info.sequence]);
    return loaded;
  }

  skip(sequences: readonly number[]): void {
    for (const sequence of sequences) this.damaged.add(sequence);
  }

  skipped(): readonly number[] {
    return [...this.damaged];
  }

  /**
   * A damaged snapshot that is newer stays until there are two newer valid ones. It only costs
   * space.
   */
  private removeOthers(): void {
    const retained = this.list().slice(0, SNAPSHOTS_RETAINED);
    const oldest = retained.at(-1)!.sequence;
    for (const name of readdirSync(this.directory)) {
      const digits = NAME.exec(name)?.[1];
      const isOld = digits !== undefined && Number(digits) < oldest;
      if (isOld || name.endsWith('.tmp')) rmSync(join(this.directory, name), { force: true });
    }
  }

  private syncNames(): void {
    if (process.platform === 'win32') return;
    const directory = openSync(this.directory, constants.O_RDONLY);
    withFile(directory, () => fsyncSync(directory));
  }
}

function fillSpans(t: Tables, first: number): Span[] {
  const parts = fillParts(t, first, t.state[State.fills]! - first);
  return parts.map((part) => ({ name: 'fills', ...part }));
}

/** Parts of the ring with `count` fills from `first` on: one, or two. */
function fillParts({ fillRows }: Tables, first: number, count: number): Part[] {
  const at = first % fillRows;
  const head = Math.min(count, fillRows - at);
  const parts = [{ start: at * FILL_BYTES, bytes: head * FILL_BYTES }];
  if (head < count) parts.push({ start: 0, bytes: (count - head) * FILL_BYTES });
  return parts;
}

/** Aligned to a word, which a small Buffer of the pool need not be. */
function copyOf(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

function trailerOf(header: SnapshotHeader): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const footer = Buffer.alloc(FOOTER_BYTES);
  footer.writeUInt32LE(MAGIC, 0);
  footer.writeUInt32LE(formatOf(header), 4);
  footer.writeUInt32LE(json.length, 8);
  footer.writeUInt32LE(crc32(json), 12);
  return Buffer.concat([json, footer]);
}

/** Format by what older versions cannot read. The spans of a ledger exist only with one. */
function formatOf(header: SnapshotHeader): number {
  const {
    agents = 0,
    delays = 0,
    feeSchedules,
    houses = 0,
    invites = 0,
    limits = 0,
    relayed = 0,
    seasons = 0,
    spans,
  } = header;
  const later = delays + relayed + seasons + invites + limits + houses + agents;
  if (later > 0) return FORMAT_WITH_DELAYS;
  if (feeSchedules !== undefined && feeSchedules > 0) return FORMAT_WITH_SCHEDULES;
  return spans.some(({ name }) => name === 'ledger') ? FORMAT_WITH_LEDGER : FORMAT;
}

function readSnapshot(
  info: SnapshotInfo,
  assistant: LoadAssistant | undefined,
): LoadedSnapshot | string {
  return orWhy(() => {
    const header = headerOf(info);
    if (typeof header === 'string') return header;
    const { firstFill } = header;
    const tables = new Tables(allocateEngine(header.capacities));
    const placed = placedSpans(header, tables);
    const [ours, theirs] = assistant === undefined ? [placed, []] : halvesOf(placed);
    const job = { path: info.path, memory: tables.memory };
    const second = assistant?.ask({ kind: 'spans', ...job, spans: theirs });
    const problem = readSpans({ ...job, spans: ours });
    // The assistant writes the tables, so the caller waits until it is done.
    const assistantProblem = second?.();
    if (problem !== undefined || assistantProblem !== undefined)
      return problem ?? assistantProblem!;
    fillIndexes(tables, assistant);
    return { tables, firstFill };
  });
}

function fillIndexes(t: Tables, assistant: LoadAssistant | undefined): void {
  if (assistant === undefined) {
    rebuildIndexes(t);
    return;
  }
  const orders = assistant.ask({ kind: 'order index', memory: t.memory });
  try {
    rebuildOthers(t);
  } finally {
    // Another snapshot may be read next, and the assistant does one task at a time.
    orders();
  }
}

function headerOf({ path, sequence }: SnapshotInfo): SnapshotHeader | string {
  const file = openSync(path, 'r');
  const header = withFile(file, () => readHeader(file));
  if (typeof header === 'string' || header.sequence === sequence) return header;
  return `it holds batch ${header.sequence}`;
}

/**
 * Spans of fills are ordered by sequence, because the ring that they were written from may have had
 * another length.
 */
function placedSpans({ firstFill, spans }: SnapshotHeader, t: Tables): PlacedSpan[] {
  let from = 0;
  let fill = firstFill;
  return spans.map((span) => {
    const { bytes, name } = span;
    const count = bytes / FILL_BYTES;
    const isFills = name === 'fills';
    const parts = isFills ? fillParts(t, fill, count) : [{ start: span.start, bytes }];
    const placed = { ...span, from, parts };
    from += bytes;
    if (isFills) fill += count;
    return placed;
  });
}

/** Splits a list into two of about as many bytes, each in the order of the file. */
function halvesOf(spans: readonly PlacedSpan[]): [PlacedSpan[], PlacedSpan[]] {
  const halves: [PlacedSpan[], PlacedSpan[]] = [[], []];
  const bytes = [0, 0];
  for (const span of [...spans].sort((a, b) => b.bytes - a.bytes)) {
    const half = bytes[0]! <= bytes[1]! ? 0 : 1;
    halves[half].push(span);
    bytes[half]! += span.bytes;
  }
  for (const half of halves) half.sort((a, b) => a.from - b.from);
  return halves;
}

export function readSpans({ memory, path, spans }: SpanJob): string | undefined {
  return orWhy(() => {
    const file = openSync(path, 'r');
    return withFile(file, () => {
      for (const { from, name, parts, sum } of spans) {
        const table = memory.buffers[name];
        const targets = parts.map(({ bytes, start }) => table.subarray(start, start + bytes));
        const found = readSpan(file, from, targets);
        if (found === undefined) return `a part of its table ${name} is missing`;
        if (found !== sum) return `the checksum of its table ${name} is wrong`;
      }
      return undefined;
    });
  });
}

/** A read error is treated like damage: there is an older snapshot. */
function orWhy<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return (error as Error).message;
  }
}

function readHeader(file: number): SnapshotHeader | string {
  const { size } = fstatSync(file);
  const footer = Buffer.alloc(FOOTER_BYTES);
  if (size < FOOTER_BYTES) return 'it is too short';
  readSync(file, footer, 0, FOOTER_BYTES, size - FOOTER_BYTES);
  if (footer.readUInt32LE(0) !== MAGIC) return 'it does not end with the magic number';
  const format = footer.readUInt32LE(4);
  if (!FORMATS_READ.includes(format)) return otherFormat(format, FORMAT);
  const json = Buffer.alloc(Math.min(footer.readUInt32LE(8), size - FOOTER_BYTES));
  readSync(file, json, 0, json.length, size - FOOTER_BYTES - json.length);
  if (crc32(json) !== footer.readUInt32LE(12)) return 'the checksum of its header is wrong';
  const header = JSON.parse(json.toString()) as SnapshotHeader;
  return { ...header, capacities: { ...NO_ROOM, ...header.capacities } };
}

const NO_ROOM = { positions: 0, operatorIds: 0 } satisfies Partial<Capacities>;

/**
 * Fills `targets` from byte `from` of the file on. Returns their checksum; undefined when the file
 * ends too early.
 */
function readSpan(file: number, from: number, targets: readonly Uint8Array[]): string | undefined {
  const sum = new WordSum();
  let place = from;
  for (const target of targets) {
    for (let at = 0; at < target.length; at += PIECE_BYTES) {
      const piece = target.subarray(at, at + PIECE_BYTES);
      const bytes = readSync(file, piece, 0, piece.length, place);
      // A table is a whole number of words, so a short read means that the file has ended.
      if (bytes !== piece.length) return undefined;
      sum.add(piece);
      place += bytes;
    }
  }
  return sum.text();
}
