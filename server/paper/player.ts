/**
 * Plays a recording: each entry at its time, in order. Entries before the begin of the play fill the books, and leave
 * no trades.
 *
 * Thread: the I/O thread. Not here: market time (timeline.ts).
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

export interface PlayTarget {
  apply(market: SourceMarket, steps: readonly SourceStep[]): Promise<unknown>;
  /** Removes the source levels, because messages are missing. */
  clear(): Promise<void>;
  setTick(market: SourceMarket, tick: string): Promise<void>;
  /** The catalog has other terms of this market than before. */
  changed(market: SourceMarket): Promise<void>;
}

export interface PlayerParts {
  readonly recording: Recording;
  /** Unix milliseconds; 0 = the whole recording. */
  readonly from: number;
  readonly to: number;
  readonly node: PlayTarget;
  readonly log: (line: string) => void;
}

export class Player {
  private readonly parts: PlayerParts;
  /** Keyed by the ids of both tokens. */
  private readonly markets = new Map<string, SourceMarket>();
  private readonly batches: AsyncIterator<readonly RecordingEntry[]>;
  private batch: readonly RecordingEntry[] = [];
  private index = 0;
  private due: Due | undefined;
  private isOver = false;
  private decreases = 0;
  damaged = 0;

  constructor(parts: PlayerParts) {
    this.parts = parts;
    this.batches = parts.recording.batches()[Symbol.asyncIterator]();
    for (const event of parts.recording.catalog.events) this.addMarkets(event);
  }

  async begin(): Promise<void> {
    const { from } = this.parts;
    for (let entry = await this.entry(); entry !== undefined; entry = await this.entry()) {
      if (entry.at >= from) return;
      this.index += 1;
      await this.play(entry, false);
    }
  }

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

  get marketCount(): number {
    return new Set(this.markets.values()).size;
  }

  private async entry(): Promise<RecordingEntry | undefined> {
    const { to } = this.parts;
    for (;;) {
      while (!this.isOver && this.index === this.batch.length) await this.nextBatch();
      const entry = this.batch[this.index];
      if (entry === undefined || (to !== 0 && entry.at > to)) return undefined;
      if (entry.kind !== 'damaged') return entry;
      this.index += 1;
      this.logDamaged(entry.why);
    }
  }

  private async nextBatch(): Promise<void> {
    const { done, value } = await this.batches.next();
    this.isOver = done === true;
    this.batch = value ?? [];
    this.index = 0;
    this.logDecreases();
    if (this.isOver && this.damaged > 1)
      this.parts.log(`messages of the recording that were left out: ${this.damaged}`);
  }

  private async play(entry: RecordingEntry, hasPrints: boolean): Promise<void> {
    switch (entry.kind) {
      case 'message':
        await this.message(entry.message, hasPrints);
        break;
      case 'gap':
        await this.parts.node.clear();
        break;
      case 'catalog':
        for (const market of this.addMarkets(entry.event)) await this.parts.node.changed(market);
        break;
      case 'damaged':
      case 'end':
        break;
    }
  }

  private async message(message: JsonObject, hasPrints: boolean): Promise<void> {
    const { node } = this.parts;
    const events = understoodEvents(message, (why) => this.logDamaged(why));
    for (const event of events) {
      if (!('token' in event)) continue;
      const market = this.markets.get(event.token);
      if (market === undefined) continue;
      if (event.kind === 'tick') await node.setTick(market, String(event.pips / PIPS_PER_UNIT));
      else if (event.kind !== 'print' || hasPrints) await node.apply(market, [event]);
    }
  }

  private logDecreases(): void {
    const { decreases } = this.parts.recording;
    const text = decreasesText(decreases);
    const isNew = decreases.count > this.decreases && (this.decreases === 0 || this.isOver);
    if (text === undefined || !isNew) return;
    this.decreases = decreases.count;
    this.parts.log(text);
  }

  private logDamaged(why: string): void {
    if (this.damaged === 0) this.parts.log(`a message of the recording is left out: ${why}`);
    this.damaged += 1;
  }

  private addMarkets(event: JsonObject): SourceMarket[] {
    const markets = marketsOfEvent(event).filter(isBinary);
    for (const market of markets) {
      for (const id of market.tokens) this.markets.set(id, market);
    }
    return markets;
  }
}
