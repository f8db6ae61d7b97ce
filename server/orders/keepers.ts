/**
 * Work that follows behind the acknowledgements: final states of finished orders, and images with
 * the trimming of the journal that they allow. None of it may hold up an order, and none of its
 * failures loses anything: the journal still has it.
 *
 * Thread: the I/O thread.
 */
import type { Tables } from '../../engine/tables.ts';
import { finalCopies } from '../../storage/fills.ts';
import type { Images } from '../../storage/images.ts';
import { FINALS_PER_COMMIT, type Journal } from '../../storage/journal.ts';
import type { Sequencer } from './sequencer.ts';

/** Finished orders may wait this long for their turn on disk, so that each write moves many. */
const FINALS_MS = 50;

/** Moves final states to LMDB in the order in which orders finished. */
export class FinalsKeeper {
  private readonly tables: Tables;
  private readonly journal: Journal;
  private readonly log: (line: string) => void;
  /** Sequence up to which they are on disk. */
  flushed: number;
  private durable: number;
  private writing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(tables: Tables, journal: Journal, durable: number, log: (line: string) => void) {
    this.tables = tables;
    this.journal = journal;
    this.log = log;
    this.flushed = journal.finalsFlushed();
    this.durable = durable;
    this.wake();
  }

  /** Orders finished before `sequence` are in the durable journal now. */
  reach(sequence: number): void {
    this.durable = sequence;
    this.wake();
  }

  /** Resolves when all that is durable has been moved, or could not be. */
  async drain(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    let before = -1;
    while (this.flushed < this.durable && this.flushed !== before) {
      before = this.flushed;
      await this.run();
    }
  }

  private wake(): void {
    if (this.timer !== undefined || this.flushed >= this.durable) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.run();
    }, FINALS_MS).unref();
  }

  /** One at a time: who comes while it runs waits for its end. */
  private run(): Promise<void> {
    this.writing ??= this.move().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  private async move(): Promise<void> {
    try {
      while (this.flushed < this.durable) {
        const end = Math.min(this.durable, this.flushed + FINALS_PER_COMMIT);
        await this.journal.putFinals(finalCopies(this.tables, this.flushed, end), end);
        this.flushed = end;
      }
    } catch (error) {
      this.log(`final states: ${(error as Error).message}`);
    }
  }
}

export interface ImageOptions {
  readonly sequencer: Sequencer;
  readonly images: Images;
  readonly journal: Journal;
  /** The region that image tickets copy to. */
  readonly spare: Tables;
  readonly seconds: number;
  readonly batches: number;
  readonly keepsJournal: boolean;
  /** Batches that the newest image holds, and those that the journal held at start. */
  readonly sequence: number;
  readonly durable: number;
  readonly log: (line: string) => void;
}

const MS = 1_000;

/** Takes an image on a timer, every so many batches, and when asked. */
export class ImageKeeper {
  private readonly o: ImageOptions;
  private imaged: number;
  private durable: number;
  /** Batches that were durable at the last attempt: one that fails is not repeated at once. */
  private attempted: number;
  private taking: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(options: ImageOptions) {
    this.o = options;
    this.imaged = options.sequence;
    this.durable = options.durable;
    this.attempted = options.sequence;
    this.timer = setInterval(() => {
      if (this.taking === undefined) void this.take();
    }, options.seconds * MS);
    this.timer.unref();
  }

  /** Batches up to `sequence` are durable now. */
  reach(sequence: number): void {
    this.durable = sequence;
    const isDue = sequence - this.attempted >= this.o.batches;
    if (isDue && this.taking === undefined) void this.take();
  }

  /** Takes an image, unless the newest one is as new; resolves when it is on disk. */
  async take(): Promise<void> {
    while (this.taking !== undefined) await this.taking;
    if (this.durable === this.imaged) return;
    this.taking = this.run();
    await this.taking;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async run(): Promise<void> {
    const { images, journal, keepsJournal, sequencer, spare } = this.o;
    this.attempted = this.durable;
    try {
      await sequencer.requestImage();
      const info = await images.save(spare);
      this.imaged = info.sequence;
      this.o.log(`image ${info.number}: batch ${info.sequence}`);
      const older = images.list()[1];
      // Recovery may have to begin with the older image: what follows it is kept.
      if (older !== undefined && !keepsJournal) await journal.trim(older.sequence);
    } catch (error) {
      this.o.log(`image: ${(error as Error).message}`);
    }
    this.taking = undefined;
  }
}
