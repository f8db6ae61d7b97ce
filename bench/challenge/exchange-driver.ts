/**
 * A challenge stream on the whole exchange: ids of 32 bytes, accounts, all rules. A modify is a cancel
 * and, if that was accepted, an order with an id of its own, because ids are never used twice here.
 * An IOC order is a FAK order: refused where nothing fills, which reports the same as a cancelled rest.
 *
 * The engine's modules are handed in, so that an older build runs the very same stream.
 */
import type { CommandBuffer } from '../../engine/commands.ts';
import type { Engine } from '../../engine/engine.ts';
import { fillCount, fillMakerIdAt, fillMakerPrice, fillRow, fillSize } from '../../engine/reads.ts';
import { ADDRESS_WORDS, ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import type {
  MicroCollateral,
  MicroShares,
  TicksPerUnit,
  TokenRow,
} from '../../engine/tables/units.ts';
import { type EngineModules, encodeClearing } from '../common/engine-modules.ts';
import { Random } from '../random.ts';
import type { Contender } from './contender.ts';
import { ReportKind, type Reports } from './reports.ts';
import type { ChallengeStream } from './stream.ts';
import * as stream from './stream.ts';

// V8 folds a module's own constants into machine code. It loads imported ones at each use.
const { MESSAGE_WORDS, Message, MessageFlag, MessageKind } = stream;

/** The finest grid of a market, and so the widest span of prices that fits. */
const GRID = 10_000;
const ACCOUNTS = 1_000;
/** Messages of one batch, as in the streams of bench/engine. */
const BATCH = 64;

/** True when the prices of a stream fit the levels of one market. */
export function fitsExchange(stream: ChallengeStream): boolean {
  return stream.priceMax - stream.priceMin < GRID - 1;
}

export class ExchangeContender implements Contender {
  readonly name: string;
  readonly reportsFills = true;
  private readonly stream: ChallengeStream;
  private readonly modules: EngineModules;
  private readonly engine: Engine;
  private readonly commands: CommandBuffer;
  /** First word of each message's commands. */
  private readonly starts: Int32Array;
  /** Row of the message whose order a cancel or modify means. */
  private readonly meant: Int32Array;
  private readonly clearing: CommandBuffer;
  private time = 1;
  private generation = 0;

  constructor(name: string, stream: ChallengeStream, modules: EngineModules) {
    this.name = name;
    this.stream = stream;
    this.modules = modules;
    const { commands, engine, tables } = modules;
    const capacities = {
      markets: 1,
      tokens: 2,
      accounts: ACCOUNTS,
      orders: stream.messages,
      levels: GRID + 1_024,
      trades: 65_536,
      history: 32_768,
      positions: 0,
      operatorIds: 0,
    };
    this.engine = new engine.Engine(tables.allocateEngine(capacities));
    this.clearing = new commands.CommandBuffer();
    this.commands = new commands.CommandBuffer(stream.messages * commands.OrderCommand.words);
    this.starts = new Int32Array(stream.messages);
    this.meant = new Int32Array(stream.messages);
    const random = new Random('challenge');
    this.openMarket(random);
    this.encode(random);
  }

  /** Cancels whatever rests, and gives every order an id that was never used. */
  prepare(): void {
    this.apply(this.clearing);
    this.generation += 1;
    const { CancelCommand, CommandKind, commandKind, commandWords, OrderCommand } =
      this.modules.commands;
    const { i32, words } = this.commands;
    for (let at = 0; at < words; at += commandWords(i32, at)) {
      const isOrder = commandKind(i32, at) === CommandKind.order;
      i32[at + (isOrder ? OrderCommand.id : CancelCommand.id) + 1] = this.generation;
    }
  }

  run(reports: Reports): void {
    const { engine, starts } = this;
    const { words } = this.stream;
    const { commandWords } = this.modules.commands;
    const { f64, i32 } = this.commands;
    // An engine from before there was reading ahead has no such method.
    const readsAhead = 'ahead' in engine;
    for (let i = 0; i < starts.length; ) {
      this.begin();
      const end = Math.min(i + BATCH, starts.length);
      const endWord = end === starts.length ? this.commands.words : starts[end]!;
      if (readsAhead) engine.ahead(i32, starts[i]!, endWord);
      for (; i < end; i++) {
        const row = i * MESSAGE_WORDS;
        const kind = words[row + Message.flags]! & MessageFlag.kindMask;
        const at = starts[i]!;
        if (kind === MessageKind.new) this.place(reports, row, at, ReportKind.accepted);
        else if (engine.apply(i32, f64, at) !== 0) this.reject(reports, row, kind);
        else if (kind === MessageKind.cancel) this.cancel(reports, row, this.meant[i]!);
        else this.place(reports, row, at + commandWords(i32, at), ReportKind.modified);
      }
      engine.end();
    }
  }

  private place(reports: Reports, row: number, at: number, kind: number): void {
    const { engine } = this;
    const { words, priceMin } = this.stream;
    const { t } = engine;
    const sequence = words[row + Message.sequence]!;
    const id = words[row + Message.id]!;
    const flags = words[row + Message.flags]!;
    const side = (flags & MessageFlag.sell) === 0 ? 0 : 1;
    const price = words[row + Message.price]!;
    let left = words[row + Message.quantity]!;
    reports.order(kind, sequence, side, id, price, left);
    const first = fillCount(t);
    engine.apply(this.commands.i32, this.commands.f64, at);
    const end = fillCount(t);
    for (let n = first; n < end; n++) {
      const fill = fillRow(t, n);
      const size = fillSize(t, fill) / GRID;
      const maker = t.fillI[fillMakerIdAt(fill) + ID_WORDS - 1]!;
      const ticks = fillMakerPrice(t, fill);
      reports.fill(sequence, ticks - 1 + priceMin, size, maker, id);
      left -= size;
    }
    if ((flags & MessageFlag.ioc) !== 0 && left > 0) {
      reports.order(ReportKind.canceled, sequence, side, id, price, 0);
    }
  }

  private cancel(reports: Reports, row: number, meant: number): void {
    const { words } = this.stream;
    const side = (words[meant + Message.flags]! & MessageFlag.sell) === 0 ? 0 : 1;
    const sequence = words[row + Message.sequence]!;
    const price = words[meant + Message.price]!;
    reports.order(ReportKind.canceled, sequence, side, words[row + Message.id]!, price, 0);
  }

  private reject(reports: Reports, row: number, kind: number): void {
    const { words } = this.stream;
    const rejected =
      kind === MessageKind.cancel ? ReportKind.cancelRejected : ReportKind.modifyRejected;
    const sequence = words[row + Message.sequence]!;
    reports.order(rejected, sequence, 0, words[row + Message.id]!, 0, 0);
  }

  private begin(): void {
    const { engine } = this;
    engine.begin(this.time, this.modules.closedCount(engine.t));
    this.time += 1;
  }

  private apply(commands: CommandBuffer): void {
    const { commandWords } = this.modules.commands;
    for (let at = 0; at < commands.words; at += commandWords(commands.i32, at)) {
      this.begin();
      this.engine.apply(commands.i32, commands.f64, at);
      this.engine.end();
    }
  }

  private openMarket(random: Random): void {
    const { CommandBuffer, encodeMarket } = this.modules.commands;
    const market = new CommandBuffer();
    const fields = {
      flags: MarketFlag.tradable,
      ticksPerUnit: GRID as TicksPerUnit,
      baseFeeBps: 0,
      minSize: 1 as MicroShares,
    };
    const tokens = [keyOf(random, ID_WORDS), keyOf(random, ID_WORDS)];
    encodeMarket(market, fields, keyOf(random, ID_WORDS), tokens);
    this.apply(market);
  }

  /** Cancels mean the order that their id had last: it rests, or nothing of that id does. */
  private encode(random: Random): void {
    const { words, idMax } = this.stream;
    const { CancelCommand, encodeCancel, OrderCommand } = this.modules.commands;
    const accounts = Array.from({ length: ACCOUNTS }, () => keyOf(random, ADDRESS_WORDS));
    for (const account of accounts) {
      encodeClearing(this.modules, this.clearing, account, this.stream.messages);
    }
    /** Message that brought the newest order of each id; -1 = none. */
    const newest = new Int32Array(idMax + 1).fill(-1);
    const out = this.commands;
    const orders = new Int32Array(this.stream.messages);
    const key = new Int32Array(ID_WORDS);
    for (let i = 0; i < this.stream.messages; i++) {
      const row = i * MESSAGE_WORDS;
      const id = words[row + Message.id]!;
      const kind = words[row + Message.flags]! & MessageFlag.kindMask;
      const before = newest[id]!;
      this.starts[i] = out.words;
      const account = accounts[id % ACCOUNTS]!;
      if (kind !== MessageKind.new) {
        this.meant[i] = before * MESSAGE_WORDS;
        const at = encodeCancel(out, key, account);
        const from = orders[before]! + OrderCommand.id;
        if (before !== -1) {
          out.i32.copyWithin(at + CancelCommand.id, from, from + ID_WORDS);
        }
      }
      if (kind === MessageKind.cancel) continue;
      orders[i] = this.encodeOrder(row, keyOf(random, ID_WORDS), account);
      newest[id] = i;
    }
  }

  private encodeOrder(row: number, key: Int32Array, account: Int32Array): number {
    const { encodeOrder, OrderType, Side } = this.modules.commands;
    const { words, priceMin } = this.stream;
    const flags = words[row + Message.flags]!;
    const quantity = words[row + Message.quantity]!;
    key[key.length - 1] = words[row + Message.id]!;
    return encodeOrder(this.commands, {
      token: 1 as TokenRow,
      side: (flags & MessageFlag.sell) === 0 ? Side.buy : Side.sell,
      type: (flags & MessageFlag.ioc) === 0 ? OrderType.GTC : OrderType.FAK,
      postOnly: false,
      shares: (quantity * GRID) as MicroShares,
      collateral: (quantity * (words[row + Message.price]! - priceMin + 1)) as MicroCollateral,
      expiration: 0,
      feeRateBps: 0,
      signatureType: 0,
      precheck: 0,
      id: key,
      maker: account,
      signer: account,
      apiKey: NO_KEY,
    });
  }
}

const NO_KEY = new Int32Array(4);

/** Ids are hashes in life, so random words here; the second word is left to prepare(). */
function keyOf(random: Random, words: number): Int32Array {
  const key = new Int32Array(words);
  for (let i = 0; i < words; i++) key[i] = random.next();
  key[1] = 0;
  return key;
}
