/**
 * One market of the engine as the mirror of one of the source: runs the fill model over the messages, and sends what
 * it says as commands of the node's own. The levels that a batch sets twice are set once.
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
import type { Doubt } from './doubts.ts';
import { StillOrders } from './still-orders.ts';

export interface MarketMirrorParts {
  readonly tables: Tables;
  /** Id of the first outcome's token. */
  readonly tokenId: string;
  readonly impact: Impact;
  readonly queue: QueueRule;
  /** The source does not say its trades (engine/paper/infer-trades.ts). */
  readonly infersTrades: boolean;
  /** Runs commands as one batch; resolves, once they are durable, with a RejectReason for each. */
  readonly send: (commands: CommandBuffer) => Promise<readonly RejectReasonCode[]>;
  readonly whenBatchesDone: (callback: () => void) => void;
  /** A level was refused. */
  readonly onRefused: (reason: RejectReasonCode) => void;
}

/** Of one batch: few enough that orders do not wait long for it. */
const COMMANDS_MAX = 512;

export class MarketMirror {
  private readonly o: MarketMirrorParts;
  private readonly orders: StillOrders;
  private readonly token: TokenRow;
  private market: MirroredMarket | undefined;

  /** @param token of the first outcome */
  constructor(parts: MarketMirrorParts, token: TokenRow) {
    this.o = parts;
    this.token = token;
    this.orders = new StillOrders(parts.tables, token, parts.whenBatchesDone);
  }

  /** Resolves, once all is durable, with why a snapshot is needed. */
  async apply(steps: readonly SourceStep[]): Promise<Doubt | undefined> {
    const market = await this.opened();
    const out = new CommandBuffer(64);
    let isTaken = true;
    for (const step of steps) {
      await this.orders.load();
      const from = out.words;
      market.apply(step, out);
      // What paper orders get of one print is not there for the next one.
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

  /** Removes all levels of the source. */
  async clear(): Promise<void> {
    const out = new CommandBuffer(64);
    const { book } = await this.opened();
    book.clear(out);
    await this.send(out);
  }

  private async opened(): Promise<MirroredMarket> {
    await this.orders.load();
    const { impact, infersTrades, queue, tokenId } = this.o;
    this.market ??= new MirroredMarket(
      new MirroredBook({ token: this.token, impact, queue, paper: this.orders }),
      tokenId,
      infersTrades,
    );
    return this.market;
  }

  /** Sends what is in `out`, and empties it. False = a level was refused. */
  private async send(out: CommandBuffer): Promise<boolean> {
    let isTaken = true;
    for (const batch of batchesOf(out)) {
      let at = 0;
      for (const reason of await this.o.send(batch)) {
        const kind = commandKind(batch.i32, at);
        at += commandWords(batch.i32, at);
        // A paper order may have gone meanwhile; its fill then changes nothing.
        if (reason === RejectReason.accepted || kind !== CommandKind.level) continue;
        isTaken = false;
        this.o.onRefused(reason);
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
 * The commands in their order, in batches of bounded length. A level that is set again, with no print or fill in
 * between, is left out the first time: the source has never both levels at once that would meet.
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
