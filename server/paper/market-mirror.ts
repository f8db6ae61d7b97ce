/**
 * Mirror of one market: runs the fill model over the messages of the source, and sends its results as internal
 * commands. A level that a batch would set twice is set once.
 *
 * Thread: the I/O thread.
 */
import {
  CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  LevelCommand,
} from '../../engine/commands.ts';
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';
import { type Impact, MirroredBook } from '../../engine/paper/mirrored-book.ts';
import { MirroredMarket } from '../../engine/paper/mirrored-market.ts';
import type { QueueRule } from '../../engine/paper/place.ts';
import type { SourceStep } from '../../engine/paper/source-step.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import type { StaleReason } from './stale-books.ts';
import { StillOrders } from './still-orders.ts';

export interface MarketMirrorParts {
  readonly tables: Tables;
  readonly tokenId: string;
  readonly impact: Impact;
  readonly queue: QueueRule;
  /** The source publishes no trades (engine/paper/infer-trades.ts). */
  readonly infersTrades: boolean;
  /** Runs commands as one batch. Resolves when they are durable, with a RejectReason for each. */
  readonly send: (commands: CommandBuffer) => Promise<readonly RejectReasonCode[]>;
  readonly whenBatchesDone: (callback: () => void) => void;
  readonly onRefused: (reason: RejectReasonCode) => void;
}

/** Bound that keeps the wait of orders for one batch short. */
const COMMANDS_MAX = 512;

export class MarketMirror {
  private readonly parts: MarketMirrorParts;
  private readonly orders: StillOrders;
  private readonly token: TokenRow;
  private market: MirroredMarket | undefined;

  constructor(parts: MarketMirrorParts, token: TokenRow) {
    this.parts = parts;
    this.token = token;
    this.orders = new StillOrders(parts.tables, token, parts.whenBatchesDone);
  }

  /** Resolves when all is durable, with the reason for a new snapshot, if one is needed. */
  async apply(steps: readonly SourceStep[]): Promise<StaleReason | undefined> {
    const market = await this.opened();
    const out = new CommandBuffer(64);
    let isTaken = true;
    for (const step of steps) {
      await this.orders.load();
      const from = out.words;
      market.apply(step, out);
      // A fill is applied before the next step: its shares are not there for the next print.
      if (!hasFill(out, from)) continue;
      isTaken = (await this.send(out)) && isTaken;
    }
    isTaken = (await this.send(out)) && isTaken;
    if (!isTaken) {
      await this.orders.load();
      market.book.resume();
      return 'refused';
    }
    return market.book.source.crossed ? 'crossed' : undefined;
  }

  async clear(): Promise<void> {
    const out = new CommandBuffer(64);
    const { book } = await this.opened();
    book.clear(out);
    await this.send(out);
  }

  private async opened(): Promise<MirroredMarket> {
    await this.orders.load();
    const { impact, infersTrades, queue, tokenId } = this.parts;
    this.market ??= new MirroredMarket(
      new MirroredBook({ token: this.token, impact, queue, paper: this.orders }),
      tokenId,
      infersTrades,
    );
    return this.market;
  }

  /** Sends and empties `out`. Resolves with false if a level was refused. */
  private async send(out: CommandBuffer): Promise<boolean> {
    let isTaken = true;
    for (const batch of batchesOf(out)) {
      let at = 0;
      for (const reason of await this.parts.send(batch)) {
        const kind = commandKind(batch.i32, at);
        at += commandWords(batch.i32, at);
        // A paper order may have gone meanwhile; its fill then changes nothing.
        if (reason === RejectReason.accepted || kind !== CommandKind.level) continue;
        isTaken = false;
        this.parts.onRefused(reason);
      }
    }
    out.clear();
    return isTaken;
  }
}

function hasFill({ i32, words }: CommandBuffer, from: number): boolean {
  for (let at = from; at < words; at += commandWords(i32, at)) {
    if (commandKind(i32, at) === CommandKind.fill) return true;
  }
  return false;
}

/**
 * Splits the commands into batches of bounded length. A level that is set again with no print or fill in between is
 * left out the first time: the source never has two levels at once that would trade.
 */
function batchesOf({ i32, words }: CommandBuffer): CommandBuffer[] {
  const starts: number[] = [];
  for (let at = 0; at < words; at += commandWords(i32, at)) starts.push(at);
  const seen = new Set<number>();
  const isLast = (at: number): boolean => {
    if (commandKind(i32, at) !== CommandKind.level) {
      seen.clear();
      return true;
    }
    const place = 2 * i32[at + LevelCommand.pips]! + i32[at + LevelCommand.side]!;
    const isNew = !seen.has(place);
    seen.add(place);
    return isNew;
  };
  const kept = starts.toReversed().filter(isLast).reverse();
  const batches: CommandBuffer[] = [];
  for (let from = 0; from < kept.length; from += COMMANDS_MAX) {
    const batch = new CommandBuffer(words);
    for (const at of kept.slice(from, from + COMMANDS_MAX)) {
      const length = commandWords(i32, at);
      batch.i32.set(i32.subarray(at, at + length), batch.words);
      batch.words += length;
    }
    batches.push(batch);
  }
  return batches;
}
