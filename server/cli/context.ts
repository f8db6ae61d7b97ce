/** Context of a command (streams, settings, durability), and the exit codes. */
import type { Readable, Writable } from 'node:stream';
import type { Durability } from '../../storage/kv/lmdb.ts';
import type { Environment, Output, Paint } from '../common/terminal.ts';
import type { Progress } from './progress.ts';

export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

export interface Context {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
  readonly dataDir: string;
  readonly durability: Durability;
  readonly paint: Paint;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Text; texts of a repeatable option; boolean for one without value (`--no-x`: false). */
export type Options = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

export type Run = (context: Context, args: readonly string[], options: Options) => Promise<Exit>;

/** Exit codes for scripts, and their texts in help and README. */
export const EXIT_CODES = {
  done: { code: 0, means: 'done' },
  failed: { code: 1, means: 'it failed; what was there before stays' },
  usage: { code: 2, means: 'wrong usage, or a setting that is refused' },
  inUse: { code: 3, means: 'a node runs on DATA_DIR, and the command needs it stopped' },
  differs: { code: 4, means: 'what was looked at is damaged, or differs, or needs attention' },
} as const;

export type Exit = keyof typeof EXIT_CODES;

export class Refused extends Error {
  readonly exit: Exit;

  constructor(message: string, exit: Exit = 'usage') {
    super(message);
    this.exit = exit;
  }
}
