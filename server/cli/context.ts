/** The context of a command: streams, settings, and how it may write. */
import type { Readable, Writable } from 'node:stream';
import type { Durability } from '../../storage/kv/lmdb.ts';
import type { Exit } from './exit-codes.ts';
import type { Environment, Paint, Progress } from './terminal.ts';

/** The streams of a command, by the names that a process has for them. */
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
  /** Ends a command that would otherwise run without end. */
  readonly signal: AbortSignal;
}

/** Text, or for an option without value whether it is present (`--no-x`: false). */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

export type Run = (context: Context, args: readonly string[], options: Options) => Promise<Exit>;
