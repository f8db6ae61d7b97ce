/** What a command is given: streams, settings, and how it may write. */
import type { Readable, Writable } from 'node:stream';
import type { Durability } from '../../storage/kv/lmdb.ts';
import type { Exit } from './exit-codes.ts';
import type { Environment, Paint, Progress } from './terminal.ts';

/** Where a command reads and writes; a process has them under these names. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

export interface Context extends Streams {
  readonly env: Environment;
  readonly dataDir: string;
  readonly durability: Durability;
  /** For standard output. */
  readonly paint: Paint;
  readonly progress: Progress;
  /** Ends a command that would go on for ever. */
  readonly signal: AbortSignal;
}

/** Options as they were given: a text, or whether one without a value is there (`--no-x`: false). */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

export type Run = (context: Context, args: readonly string[], options: Options) => Promise<Exit>;
