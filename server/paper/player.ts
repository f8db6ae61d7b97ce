/**
 * Plays a recording: its entries in their order, each when its time has come. What comes before the time from which it
 * is played fills the books, and leaves no trades.
 *
 * Thread: the I/O thread. Not here: when that time has come (timeline.ts).
 */
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import type { Recording } from '../../storage/recordings/recording.ts';
import { marketsOfEvent, type SourceMarket } from './source-api.ts';
import { DamagedMessage, readEvents, type SourceStep } from './source-message.ts';
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

interface Outcome {
  readonly market: SourceMarket;
  readonly isSecond: boolean;
}

export class Player {
  private readonly o: PlayerParts;
  private readonly outcomes = new Map<string, Outcome>();
  private readonly batches: AsyncIterator<readonly RecordingEntry[]>;
  private batch: readonly RecordingEntry[] = [];
  private index = 0;
  private due: Due | undefined;
  private isOver = false;
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

  private async entry(): Promise<RecordingEntry | undefined> {
    const { to } = this.o;
    while (!this.isOver && this.index === this.batch.length) {
      const { done, value } = await this.batches.next();
      this.isOver = done === true;
      this.batch = value ?? [];
      this.index = 0;
    }
    const entry = this.batch[this.index];
    if (entry === undefined || (to !== 0 && entry.at > to)) return undefined;
    return entry;
  }

  private async play(entry: RecordingEntry, hasPrints: boolean): Promise<void> {
    switch (entry.kind) {
      case 'message':
        await this.message(entry.message as unknown as JsonObject, hasPrints);
        break;
      case 'gap':
        await this.o.venue.clear();
        break;
      case 'catalog':
        for (const market of this.note(entry.event)) await this.o.venue.changed(market);
        break;
      case 'end':
        break;
    }
  }

  private async message(message: JsonObject, hasPrints: boolean): Promise<void> {
    let events: ReturnType<typeof readEvents>;
    try {
      events = readEvents(message);
    } catch (error) {
      if (!(error instanceof DamagedMessage)) throw error;
      if (this.damaged === 0)
        this.o.log(`a message of the recording is left out: ${error.message}`);
      this.damaged += 1;
      return;
    }
    const { venue } = this.o;
    for (const event of events) {
      const outcome = 'token' in event ? this.outcomes.get(event.token) : undefined;
      if (outcome === undefined) continue;
      const { isSecond, market } = outcome;
      if (event.kind === 'print') {
        if (hasPrints) await venue.apply(market, [{ ...event, isSecond }]);
      } else if (event.kind === 'tick') {
        if (typeof message.new_tick_size === 'string')
          await venue.setTick(market, message.new_tick_size);
        // The second outcome says the same again.
      } else if (!isSecond && (event.kind === 'book' || event.kind === 'changes')) {
        await venue.apply(market, [event]);
      }
    }
  }

  /** The binary markets of an event. */
  private note(event: JsonObject): SourceMarket[] {
    const markets = marketsOfEvent(event).filter(({ tokens }) => tokens.length === 2);
    for (const market of markets) {
      market.tokens.forEach((id, outcome) => {
        this.outcomes.set(id, { market, isSecond: outcome === 1 });
      });
    }
    return markets;
  }
}
