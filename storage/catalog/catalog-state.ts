/**
 * The generations of the catalog and the one in use: the table `state`.
 *   current   header of the generation in use
 *   next      number of the next one
 *   awaiting  only in a cluster: what the log may make the one in use (Awaiting). Where this row is, a new generation
 *             is proposed, and adopt() makes it the one in use once a record says so
 *
 * Thread: any. Non-goals: the objects of a generation (catalog.ts).
 */
import { OtherFormat, otherFormat } from '../files/other-format.ts';
import { CRC_BYTES, checksumMatches, withChecksum } from '../kv/checksum.ts';
import type { BinaryTable, RootDatabase } from '../kv/lmdb.ts';

export interface Header {
  readonly format: number;
  readonly generation: number;
  readonly counts: readonly number[];
  /** Digest and length in bytes of its content (catalog-content.ts). Older versions wrote neither. */
  readonly digest?: string;
  readonly bytes?: number;
  readonly snapshot?: {
    readonly format: string;
    readonly lengths: readonly number[];
  };
}

/** A generation that was made on this node, and that the log does not name yet. */
export interface Proposal {
  readonly generation: number;
  readonly digest: string;
  readonly bytes: number;
  /** True: it replaces any generation, also one that this node lacks. */
  readonly replacesAny: boolean;
}

export type Outcome = 'in use' | 'proposed' | { readonly refused: string };

interface Awaiting {
  /**
   * Complete generations that are not in use, made here or received, ascending; all are newer than
   * the one in use.
   */
  readonly waiting: readonly Header[];
  readonly proposed?: { readonly generation: number; readonly replacesAny: boolean } | undefined;
  readonly refused?: { readonly generation: number; readonly why: string } | undefined;
}

export class Overtaken extends Error {
  constructor(message = 'the catalog was replaced meanwhile: try again') {
    super(message);
  }
}

/**
 * Format version of this environment; unknown versions are refused. 3: every value has a checksum.
 */
export const FORMAT = 3;
/** Waiting generations: one whose record may be on its way, and the one after it. */
const WAITING_MAX = 2;
const CURRENT_KEY = Buffer.from('current');
const NEXT_KEY = Buffer.from('next');
const AWAITING_KEY = Buffer.from('awaiting');
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export class CatalogState {
  private readonly root: RootDatabase<Buffer, string>;
  private readonly table: BinaryTable;
  private readonly pinned: number | undefined;

  constructor(root: RootDatabase<Buffer, string>, table: BinaryTable, pinned?: number) {
    this.root = root;
    this.table = table;
    this.pinned = pinned;
  }

  /** Header of the generation that is read; throws where it is damaged. */
  header(): Header | undefined {
    const { pinned } = this;
    return pinned === undefined ? readHeader(this.table) : this.headerOf(pinned);
  }

  /**
   * Header of the generation in use, for a writer that replaces it: a damaged one counts as
   * missing.
   */
  sound(): Header | undefined {
    const value = this.table.get(CURRENT_KEY);
    if (value === undefined) return undefined;
    const isDamaged = opened(CURRENT_KEY, value) === undefined && !isOlder(value);
    return isDamaged ? undefined : readHeader(this.table);
  }

  takeNumber(newest: () => number): number {
    return this.root.transactionSync(() => {
      const stored = this.table.get(NEXT_KEY);
      const counter = stored === undefined ? undefined : opened(NEXT_KEY, stored);
      // If the stored number is damaged, take one that no generation uses.
      const next = counter === undefined ? newest() + 1 : Number(counter.toString());
      putWithChecksum(this.table, NEXT_KEY, Buffer.from(String(next + 1)));
      return next;
    });
  }

  /** Throws an Overtaken where a generation that was made from `onto` cannot come into use. */
  mayReplace(onto: number | undefined): void {
    if (onto !== undefined && (this.sound()?.generation ?? 0) !== onto) throw new Overtaken();
    if (this.awaiting()?.proposed !== undefined) {
      throw new Overtaken(
        'another change of the catalog is on its way to the other nodes: try again',
      );
    }
  }

  /**
   * Takes a complete generation into use, or proposes it. Returns the current generation
   * afterwards: a later one if another call overtook this one.
   */
  complete(header: Header, onto: number | undefined): number {
    return this.root.transactionSync(() => {
      this.mayReplace(onto);
      const current = this.sound()?.generation ?? 0;
      const awaiting = this.awaiting();
      if (awaiting !== undefined) {
        const { generation } = header;
        const proposed = { generation, replacesAny: onto === undefined };
        this.putAwaiting({ ...withWaiting(awaiting, header), proposed });
        return current;
      }
      if (current > header.generation) return current;
      this.put(CURRENT_KEY, header);
      return header.generation;
    });
  }

  /** Stores a received generation: the log may name it later. */
  keep(header: Header): void {
    this.root.transactionSync(() => {
      this.putAwaiting(withWaiting(this.awaiting() ?? { waiting: [] }, header));
    });
  }

  adopt(generation: number): void {
    this.root.transactionSync(() => {
      const header = this.headerOf(generation);
      if (header === undefined) throw new Error(`generation ${generation} is not there`);
      this.put(CURRENT_KEY, header);
      const awaiting = this.awaiting() ?? { waiting: [] };
      const waiting = awaiting.waiting.filter((one) => one.generation > generation);
      const { proposed } = awaiting;
      if (proposed === undefined || proposed.generation > generation) {
        this.putAwaiting({ ...awaiting, waiting });
      } else {
        const isOther = proposed.generation !== generation;
        const refused = isOther
          ? { generation: proposed.generation, why: new Overtaken().message }
          : undefined;
        this.putAwaiting({ waiting, refused });
      }
    });
  }

  refuse(generation: number, why: string): void {
    this.root.transactionSync(() => {
      const { proposed, waiting } = this.awaiting() ?? { waiting: [] };
      this.putAwaiting({
        waiting: waiting.filter((one) => one.generation !== generation),
        proposed: proposed?.generation === generation ? undefined : proposed,
        refused: { generation, why },
      });
    });
  }

  outcome(generation: number): Outcome {
    const { proposed, refused } = this.awaiting() ?? {};
    if (proposed?.generation === generation) return 'proposed';
    if (refused?.generation === generation) return { refused: refused.why };
    const isOver = (this.sound()?.generation ?? 0) >= generation;
    return isOver ? 'in use' : { refused: new Overtaken().message };
  }

  isAwaiting(): boolean {
    return this.awaiting() !== undefined;
  }

  proposal(): Proposal | undefined {
    const proposed = this.awaiting()?.proposed;
    if (proposed === undefined) return undefined;
    const header = this.headerOf(proposed.generation);
    return { ...proposed, digest: header?.digest ?? '', bytes: header?.bytes ?? 0 };
  }

  find(digest: string): Header | undefined {
    return this.headers().find((one) => one.digest === digest);
  }

  /**
   * Lets generations come into use only by adopt() from now on. One that is in use without a record
   * is proposed once: it was imported before the node belonged to a cluster.
   * @param recorded digest of the generation that the log names
   */
  awaitRecords(recorded: string | undefined, measured: (header: Header) => Header): void {
    this.root.transactionSync(() => {
      const before = this.awaiting();
      let current = this.sound();
      if (current !== undefined && (current.digest === undefined || current.bytes === undefined)) {
        current = measured(current);
        this.put(CURRENT_KEY, current);
      }
      const { proposed, waiting = [], refused } = before ?? {};
      const why = 'the node has started again meanwhile: see whether it came into use';
      const isNew = before === undefined || recorded === undefined;
      const isUnrecorded = isNew && current !== undefined && current.digest !== recorded;
      this.putAwaiting({
        waiting,
        refused: proposed === undefined ? refused : { generation: proposed.generation, why },
        ...(isUnrecorded && {
          proposed: { generation: current!.generation, replacesAny: true },
        }),
      });
      const named = waiting.find(({ digest }) => digest === recorded);
      if (named !== undefined && current?.digest !== recorded) this.adopt(named.generation);
    });
  }

  /**
   * Lets a generation come into use when it is complete, from now on. Writes nothing where that was
   * so.
   */
  awaitNone(recorded: string | undefined): void {
    const awaiting = this.awaiting();
    if (awaiting === undefined) return;
    this.root.transactionSync(() => {
      const named = awaiting.waiting.find(({ digest }) => digest === recorded);
      if (named !== undefined) this.put(CURRENT_KEY, named);
      this.table.removeSync(AWAITING_KEY);
    });
  }

  private headerOf(generation: number): Header | undefined {
    return this.headers().find((one) => one.generation === generation);
  }

  private headers(): readonly Header[] {
    const current = this.sound();
    const waiting = this.awaiting()?.waiting ?? [];
    return current === undefined ? waiting : [current, ...waiting];
  }

  /** Reads the row `awaiting`; a damaged one is fetched again from other nodes. */
  private awaiting(): Awaiting | undefined {
    const value = this.table.get(AWAITING_KEY);
    if (value === undefined) return undefined;
    const bytes = opened(AWAITING_KEY, value);
    return bytes === undefined ? { waiting: [] } : (JSON.parse(bytes.toString()) as Awaiting);
  }

  private putAwaiting(awaiting: Awaiting): void {
    this.put(AWAITING_KEY, awaiting);
  }

  private put(key: Buffer, value: object): void {
    putWithChecksum(this.table, key, Buffer.from(JSON.stringify(value)));
  }
}

function withWaiting(awaiting: Awaiting, header: Header): Awaiting {
  return { ...awaiting, waiting: [...awaiting.waiting, header].slice(-WAITING_MAX) };
}

export function putWithChecksum(table: BinaryTable, key: Buffer, bytes: Buffer): void {
  const value = Buffer.allocUnsafeSlow(CRC_BYTES + bytes.length);
  value.set(bytes, CRC_BYTES);
  table.putSync(key, withChecksum(key, value));
}

/** Returns the value that was stored under a key; `undefined` when the bytes are damaged. */
export function opened(key: Buffer, value: Buffer): Buffer | undefined {
  return checksumMatches(key, value) ? value.subarray(CRC_BYTES) : undefined;
}

export function damaged(what: string): Error {
  return new Error(`the catalog is damaged: ${what}; import it again, or put back a copy`);
}

function readHeader(state: BinaryTable): Header | undefined {
  const value = state.get(CURRENT_KEY);
  if (value === undefined) return undefined;
  const bytes = opened(CURRENT_KEY, value);
  if (bytes === undefined && !isOlder(value)) {
    throw damaged('the row of the generation in use: the checksum is wrong');
  }
  const header: Header = JSON.parse((bytes ?? value).toString());
  if (header.format !== FORMAT) {
    throw new OtherFormat(`the catalog: ${otherFormat(header.format, FORMAT)}; import it again`);
  }
  return header;
}

/** Returns true for a value of format 2 or less, which began with JSON. */
function isOlder(value: Buffer): boolean {
  return value[0] === OPEN_BRACE && value.at(-1) === CLOSE_BRACE && value.length > 2;
}
