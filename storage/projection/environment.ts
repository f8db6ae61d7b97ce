/**
 * LMDB environment DATA_DIR/projections: what follows from the fills and entries that lie in derived/, and in `meta` how far
 * that has come:
 *
 *   position   crc u32 | whole u32 | fills that are taken in f64 | crc u32 of the last one | entries that are
 *              taken in f64, then name and format of each projection as text
 *
 * The position goes with the rows of all projections in one transaction, so no fill is counted twice or left
 * out. An environment that is missing, damaged, of other formats or of another log is emptied, and all of it
 * made again by the projector behind the open port (projector.ts); that is its only repair.
 *
 * Thread: the projector writes. The I/O thread opens it first, and empties it where it is not of this log; then it
 * reads.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { requireFreeSpace } from '../files/disk-room.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { checksumMatches, withChecksum } from '../kv/checksum.ts';
import {
  type BinaryTable,
  type Durability,
  openEnvironment,
  openTable,
  openTogether,
  type RootDatabase,
} from '../kv/lmdb.ts';
import { Forecasts } from './forecasts.ts';
import { Positions } from './positions.ts';
import { Prices } from './prices.ts';
import { type FactEvents, type FactProjection, project } from './projection.ts';
import { Rebates } from './rebates.ts';
import { Results } from './results.ts';
import { Statements } from './statements.ts';
import { Volumes } from './volumes.ts';

/** Fills [0, end) and as many entries are applied. */
export interface ProjectedPosition {
  readonly end: number;
  readonly entries: number;
  /** False: a rebuild has not reached the newest fill yet. */
  readonly isWhole: boolean;
  /** Checksum of the last fill; 0 = none. */
  readonly crc: number;
}

interface Options {
  readonly durability: Durability;
  readonly readOnly: boolean;
}

export const PROJECTIONS = 'projections';
/** Environments of older versions; their fills are in derived/ as well. */
const OLDER = ['positions', 'history'] as const;
const POSITION = Buffer.from('position');
const ENTRIES_AT = 20;
const NAMES_AT = 28;
const NOTHING: ProjectedPosition = { end: 0, entries: 0, isWhole: false, crc: 0 };

function openAll(root: RootDatabase<Buffer, string>) {
  const positions = new Positions(root);
  const results = new Results(root, positions);
  return {
    meta: openTable(root, 'meta'),
    positions,
    prices: new Prices(root),
    volumes: new Volumes(root),
    statements: new Statements(root),
    results,
    rebates: new Rebates(root),
    forecasts: new Forecasts(root, results),
  };
}

export class Projections {
  readonly positions: Positions;
  readonly prices: Prices;
  readonly volumes: Volumes;
  readonly statements: Statements;
  readonly results: Results;
  readonly rebates: Rebates;
  readonly forecasts: Forecasts;
  readonly all: readonly FactProjection[];
  readonly root: RootDatabase<Buffer, string>;
  private readonly dataDir: string;
  private readonly meta: BinaryTable;
  private readonly names: Buffer;
  private readonly readOnly: boolean;
  private isGivenUp = false;

  /** Throws an Error if it cannot be opened. */
  constructor(dataDir: string, options: Options) {
    const path = join(dataDir, PROJECTIONS);
    if (!options.readOnly) makeDirectory(path);
    this.dataDir = dataDir;
    this.readOnly = options.readOnly;
    this.root = openEnvironment({ path, ...options });
    const opened = openTogether(this.root, options, () => openAll(this.root));
    this.meta = opened.meta;
    this.positions = opened.positions;
    this.prices = opened.prices;
    this.volumes = opened.volumes;
    this.statements = opened.statements;
    this.results = opened.results;
    this.rebates = opened.rebates;
    this.forecasts = opened.forecasts;
    this.all = [
      this.positions,
      this.prices,
      this.volumes,
      this.statements,
      this.results,
      this.rebates,
      this.forecasts,
    ];
    this.names = Buffer.from(this.all.map(({ format, name }) => `${name} ${format}`).join());
  }

  /** `undefined`: it has not begun, or is unusable. */
  position(): ProjectedPosition | undefined {
    const value = this.isGivenUp ? undefined : this.meta.get(POSITION);
    if (value === undefined || value.length < NAMES_AT || !checksumMatches(POSITION, value))
      return undefined;
    if (!value.subarray(NAMES_AT).equals(this.names)) return undefined;
    return {
      isWhole: value.readUInt32LE(4) === 1,
      end: value.readDoubleLE(8),
      crc: value.readUInt32LE(16),
      entries: value.readDoubleLE(ENTRIES_AT),
    };
  }

  write(events: FactEvents, position: ProjectedPosition): void {
    project(this.root, this.all, events, () => this.putPosition(position));
  }

  empty(isWhole: boolean): void {
    requireFreeSpace(this.dataDir, 0);
    this.root.transactionSync(() => {
      for (const projection of this.all) projection.clear();
      this.putPosition({ ...NOTHING, isWhole });
    });
  }

  /** Marks rows as damaged or of another log, found by the I/O thread at the start; none of them is read. */
  reject(isWhole: boolean): void {
    if (this.readOnly) this.isGivenUp = true;
    else this.empty(isWhole);
  }

  /** Removes the position after a damaged row was read. The projector then rebuilds everything. */
  condemn(): void {
    if (this.readOnly) return;
    void this.meta.remove(POSITION).catch(() => undefined);
  }

  /** Call only inside a transaction. */
  putPosition({ crc, end, entries, isWhole: whole }: ProjectedPosition): void {
    const value = Buffer.allocUnsafeSlow(NAMES_AT + this.names.length);
    value.writeUInt32LE(whole ? 1 : 0, 4);
    value.writeDoubleLE(end, 8);
    value.writeUInt32LE(crc, 16);
    value.writeDoubleLE(entries, ENTRIES_AT);
    this.names.copy(value, NAMES_AT);
    void this.meta.put(POSITION, withChecksum(POSITION, value));
  }

  close(): Promise<void> {
    return this.root.close();
  }
}

/** Checksum of the fill before `end`; 0 if it is absent or damaged. */
export function crcOf(fills: { get(sequence: number): Buffer | undefined }, end: number): number {
  try {
    const value = end === 0 ? undefined : fills.get(end - 1);
    return value === undefined ? 0 : crc32(value);
  } catch {
    return 0;
  }
}

/**
 * First opening of a process. Removes an environment that cannot be opened, and those of older versions. Returns
 * undefined if there is none and none may be made.
 */
export function openProjections(
  dataDir: string,
  options: Options,
  warn: (line: string) => void,
): Projections | undefined {
  if (options.readOnly) {
    try {
      const projections = new Projections(dataDir, options);
      projections.position();
      return projections;
    } catch {
      return undefined;
    }
  }
  const older = OLDER.filter((name) => existsSync(join(dataDir, name)));
  for (const name of older) rmSync(join(dataDir, name), { recursive: true, force: true });
  if (older.length > 0) {
    const names = older.map((name) => `${name}/`).join(' and ');
    warn(`projections: ${names} of an older version removed; what they held is made again`);
  }
  try {
    return new Projections(dataDir, options);
  } catch (error) {
    warn(`projections: ${(error as Error).message}; all of it is made again`);
    rmSync(join(dataDir, PROJECTIONS), { recursive: true, force: true });
    return new Projections(dataDir, options);
  }
}
