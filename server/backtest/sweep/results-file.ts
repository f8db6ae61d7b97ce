/**
 * Results of a sweep on disk: a line that names strategy and options, then a line for each run. A sweep that was
 * killed continues with the runs that are missing.
 *
 * Thread: any. Two sweeps at a time append whole lines, and at worst do the same run twice.
 */
import { appendFileSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { SweepJob, SweepOptions, SweepRow } from './job.ts';

const FORMAT = 'prediction-market-sweep';
const VERSION = 1;

/** Identity of the runs in a file. */
export interface SweepIdentity {
  /** Version of the package, whose rules the figures follow. */
  readonly program: string;
  readonly strategy: string;
  /** Digest of the strategy (digests.ts). */
  readonly sha256: string;
  readonly options: SweepOptions;
}

interface Head extends SweepIdentity {
  readonly format: string;
  readonly version: number;
}

interface StoredRow extends SweepRow {
  /** Digest of the recording. */
  readonly sha256: string;
}

/** Error of results that belong to another strategy, recording, version or options. */
export class OtherResults extends Error {}

export class ResultsFile {
  readonly path: string;
  /** Digests of the recordings by their paths. */
  private readonly recordings: ReadonlyMap<string, string>;
  private readonly rows = new Map<string, SweepRow>();

  /** Opens or makes the results in a directory. Throws an OtherResults where they do not fit. */
  constructor(directory: string, identity: SweepIdentity, recordings: ReadonlyMap<string, string>) {
    this.path = join(directory, 'results.jsonl');
    this.recordings = recordings;
    mkdirSync(directory, { recursive: true });
    const lines = this.wholeLines();
    const head = lines.shift();
    const own: Head = { format: FORMAT, version: VERSION, ...identity };
    if (head === undefined) this.append(own);
    else this.compare(head as unknown as Head, own);
    for (const line of lines) this.take(line as unknown as StoredRow);
  }

  /** Returns the row of a job that has run before. */
  rowOf(job: SweepJob): SweepRow | undefined {
    return this.rows.get(keyOf(job.recording, job));
  }

  add(row: SweepRow): void {
    const sha256 = this.recordings.get(row.recording)!;
    this.append({ ...row, sha256 } satisfies StoredRow);
  }

  private compare(found: Head, own: Head): void {
    if (found.format !== FORMAT)
      throw new OtherResults(`${this.path}: it has no results of a sweep`);
    if (found.version !== VERSION)
      throw new OtherResults(
        `${this.path}: it has version ${found.version}, and this program reads ${VERSION}`,
      );
    for (const [name, what] of [
      ['program', 'another version of this program'],
      ['strategy', 'another strategy'],
      ['sha256', 'another text of the strategy'],
      ['options', 'other options'],
    ] as const) {
      if (JSON.stringify(found[name]) === JSON.stringify(own[name])) continue;
      throw new OtherResults(
        `${this.path}: its results are of ${what}; choose another directory, or remove it`,
      );
    }
  }

  private take(row: StoredRow): void {
    const { sha256, ...own } = row;
    const digest = this.recordings.get(row.recording);
    if (digest === undefined) return;
    if (digest !== sha256)
      throw new OtherResults(
        `${this.path}: ${row.recording} has changed since; choose another directory, or remove it`,
      );
    this.rows.set(keyOf(row.recording, own), own);
  }

  /** Returns all lines. A line that a kill has cut is removed. */
  private wholeLines(): Record<string, unknown>[] {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    const end = bytes.lastIndexOf('\n') + 1;
    if (end < bytes.length) truncateSync(this.path, end);
    return bytes
      .toString('utf8', 0, end)
      .split('\n')
      .filter((line) => line !== '')
      .map((line, i) => parsed(line, `${this.path}: line ${i + 1}`));
  }

  private append(value: object): void {
    appendFileSync(this.path, `${JSON.stringify(value)}\n`);
  }
}

function parsed(line: string, place: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    throw new OtherResults(`${place} is no JSON`);
  }
}

function keyOf(recording: string, { span, values }: Pick<SweepJob, 'span' | 'values'>): string {
  return JSON.stringify([recording, span.from ?? null, span.to ?? null, Object.entries(values)]);
}
