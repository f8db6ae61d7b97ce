/**
 * Plays a recording: its entries in their order, each when its time has come. What comes before the time from which it
 * is played fills the books, and leaves no trades.
 *
 * Thread: the I/O thread. Not here: when that time has come (timeline.ts).
 */
import type { SourceStep } from '../../engine/paper/source-step.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import type { Recording } from '../../storage/recordings/recording.ts';
import { understoodEvents } from '../../storage/recordings/source-message.ts';
import { decreasesText } from '../../storage/recordings/times.ts';
import { isBinary } from './chosen-markets.ts';
import { marketsOfEvent, type SourceMarket } from './source-api.ts';
import type { Due } from './timeline.ts';

/** What a recording does to the node. */
export interface PlayedVenue {
  apply(market: SourceMarket, steps: readonly SourceStep[]): Promise<unknown>;
  /** Removes the levels of the source: messages are missing. */
  clear(): Promise<void>;
  /** @param tick as decimal text */
  setTick(market: SourceMarket, tick: string): Promise<void>;
  /** The catalog says something else of this market than before. */
  changed(market: SourceMarket): Promise<void>;
}

export interface PlayerParts {
  readonly recording: Recording;
  /** Unix milliseconds; 0 = all of it. */
  readonly from: number;
  readonly to: number;
  readonly venue: PlayedVenue;
  readonly log: (line: string) => void;
}

export class Player {
  private readonly o: PlayerParts;
  /** By the ids of both tokens. */
  private readonly markets = new Map<string, SourceMarket>();
  private readonly batches: AsyncIterator<readonly RecordingEntry[]>;
  private batch: readonly RecordingEntry[] = [];
  private index = 0;
  private due: Due | undefined;
  private isOver = false;
  /** Decreases when they were logged last. */
  private decreases = 0;
  /** Messages that could not be understood. */
  damaged = 0;

  constructor(parts: PlayerParts) {
    this.o = parts;
    this.batches = parts.recording.batches()[Symbol.asyncIterator]();
    for (const event of parts.recording.catalog.events) this.note(event);
  }

  /** Fills the books with what comes before the time from which it is played. */
  async begin(): Promise<void> {
    const { from } = this.o;
    for (let entry = await this.entry(); entry !== undefined; entry = await this.entry()) {
      if (entry.at >= from) return;
      this.index += 1;
      await this.play(entry, false);
    }
  }

  /** What is next; the same until it was run. */
  readonly next = async (): Promise<Due | undefined> => {
    if (this.due !== undefined) return this.due;
    const entry = await this.entry();
    if (entry === undefined) return undefined;
    this.index += 1;
    this.due = {
      at: entry.at,
      run: async () => {
        this.due = undefined;
        await this.play(entry, true);
      },
    };
    return this.due;
  };

  /** Markets that are played, as far as the recording was read. */
  get marketCount(): number {
    return new Set(this.markets.values()).size;
  }

  private async entry(): Promise<RecordingEntry | undefined> {
    const { to } = this.o;
    for (;;) {
      while (!this.isOver && this.index === this.batch.length) await this.nextBatch();
      const entry = this.batch[this.index];
      if (entry === undefined || (to !== 0 && entry.at > to)) return undefined;
      if (entry.kind !== 'damaged') return entry;
      this.index += 1;
      this.noteDamaged(entry.why);
    }
  }

  private async nextBatch(): Promise<void> {
    const { done, value } = await this.batches.next();
    this.isOver = done === true;
    this.batch = value ?? [];
    this.index = 0;
    this.noteDecreases();
    if (this.isOver && this.damaged > 1)
      this.o.log(`messages of the recording that were left out: ${this.damaged}`);
  }

  private async play(entry: RecordingEntry, hasPrints: boolean): Promise<void> {
    switch (entry.kind) {
      case 'message':
        await this.message(entry.message, hasPrints);
        break;
      case 'gap':
        await this.o.venue.clear();
        break;
      case 'catalog':
        for (const market of this.note(entry.event)) await this.o.venue.changed(market);
        break;
      case 'damaged':
      case 'end':
        break;
    }
  }

  private async message(message: JsonObject, hasPrints: boolean): Promise<void> {
    const { venue } = this.o;
    const events = understoodEvents(message, (why) => this.noteDamaged(why));
    for (const event of events) {
      if (!('token' in event)) continue;
      const market = this.markets.get(event.token);
      if (market === undefined) continue;
      if (event.kind === 'tick') await venue.setTick(market, String(event.pips / PIPS_PER_UNIT));
      else if (event.kind !== 'print' || hasPrints) await venue.apply(market, [event]);
    }
  }

  /** At the first one, and at the end how many there were. */
  private noteDecreases(): void {
    const { decreases } = this.o.recording;
    const text = decreasesText(decreases);
    const isNew = decreases.count > this.decreases && (this.decreases === 0 || this.isOver);
    if (text === undefined || !isNew) return;
    this.decreases = decreases.count;
    this.o.log(text);
  }

  private noteDamaged(why: string): void {
    if (this.damaged === 0) this.o.log(`a message of the recording is left out: ${why}`);
    this.damaged += 1;
  }

  /** The binary markets of an event. */
  private note(event: JsonObject): SourceMarket[] {
    const markets = marketsOfEvent(event).filter(isBinary);
    for (const market of markets) {
      for (const id of market.tokens) this.markets.set(id, market);
    }
    return markets;
  }
}
