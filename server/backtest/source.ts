/**
 * The source of a recording: its catalog, its messages and its resolutions, brought into the exchange through
 * the fill model. It says what the strategy is to be called for.
 */

import {
  CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  LevelCommand,
  type MarketFields,
  Side,
} from '../../engine/commands.ts';
import type { MarketMessage } from '../../engine/paper/messages.ts';
import { MirroredBook } from '../../engine/paper/mirrored-book.ts';
import { MirroredMarkets } from '../../engine/paper/mirrored-markets.ts';
import { EngineOrders } from '../../engine/paper/paper-orders.ts';
import { tokenMarket } from '../../engine/reads.ts';
import { PAYOUT_SUM_MAX } from '../../engine/tables/capacities.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import {
  isTickGrid,
  type MarketRow,
  MICRO,
  type MicroShares,
  PIPS_PER_UNIT,
  type TokenRow,
} from '../../engine/tables/units.ts';
import type { JsonObject } from '../../storage/catalog/catalog-json.ts';
import type { RecordingEntry } from '../../storage/recordings/entries.ts';
import type { Exchange } from './exchange.ts';
import { type MarketNames, TradedMarket } from './markets.ts';
import { type MarketTerms, type RecordedMarket, recordedMarkets } from './recorded-markets.ts';
import type { RunSettings } from './result.ts';
import type { Trade } from './strategy.ts';
import type { StrategyVenue } from './venue.ts';

/** What a line of the recording means to a strategy. */
export type Heard =
  | { readonly kind: 'market' | 'book'; readonly market: TradedMarket }
  | { readonly kind: 'trade'; readonly trade: Trade };

/** A message that ends a market, as nodes of this project send it. */
interface ResolvedMessage {
  readonly event_type: 'market_resolved';
  readonly assets_ids: readonly string[];
  readonly payouts: readonly number[];
  readonly is_void: boolean;
}

/** What a market of the source is mirrored by. */
interface Mirrored {
  readonly market: TradedMarket;
  readonly book: MirroredBook;
  terms: MarketTerms;
}

const FLAGS = { open: MarketFlag.tradable, halted: 0, closed: MarketFlag.ended } as const;
const NOTHING: readonly Heard[] = [];

export class Source {
  /** Commands that the engine refused. */
  refused = 0;
  private readonly exchange: Exchange;
  private readonly venue: StrategyVenue;
  private readonly settings: RunSettings;
  /** First tokens of markets without prints. */
  private readonly inferred: ReadonlySet<string>;
  private readonly markets = new MirroredMarkets();
  private readonly byToken = new Map<string, Mirrored>();
  private readonly byRow = new Map<MarketRow, Mirrored>();
  private readonly out = new CommandBuffer();

  /** @param inferred first tokens of the markets of which trades are inferred */
  constructor(
    exchange: Exchange,
    venue: StrategyVenue,
    settings: RunSettings,
    inferred: readonly string[],
  ) {
    this.exchange = exchange;
    this.venue = venue;
    this.settings = settings;
    this.inferred = new Set(inferred);
  }

  /** Brings an entry of the recording in. */
  take(entry: RecordingEntry): readonly Heard[] {
    if (entry.kind === 'catalog') return this.catalog(entry.event);
    return entry.kind === 'message' ? this.message(entry.message) : NOTHING;
  }

  /** An event of the source's catalog, with its markets, as it is from now on. */
  private catalog(event: JsonObject): readonly Heard[] {
    const heard: Heard[] = [];
    for (const recorded of recordedMarkets(event)) {
      const known = this.byToken.get(recorded.tokens[0]!);
      if (known === undefined) heard.push({ kind: 'market', market: this.add(recorded) });
      else this.change(known, recorded);
      const mirrored = known ?? this.byToken.get(recorded.tokens[0]!)!;
      const { payout } = recorded;
      if (payout === undefined) continue;
      const isVoid = payout === 'void';
      this.resolve(mirrored, isVoid ? [1, 1] : payout, isVoid);
    }
    return heard;
  }

  private message(message: MarketMessage | ResolvedMessage): readonly Heard[] {
    if (message.event_type === 'market_resolved') {
      const mirrored = this.byToken.get(message.assets_ids[0]!);
      if (mirrored !== undefined) this.resolve(mirrored, message.payouts, message.is_void);
      return NOTHING;
    }
    if (message.event_type === 'tick_size_change') {
      const mirrored = this.byToken.get(message.asset_id);
      const ticksPerUnit = Math.round(1 / Number(message.new_tick_size));
      if (mirrored !== undefined && isTickGrid(ticksPerUnit)) {
        mirrored.terms = { ...mirrored.terms, ticksPerUnit };
      }
    }
    this.out.clear();
    this.markets.apply(message, this.out);
    return this.out.words === 0 ? NOTHING : this.applied();
  }

  /** Applies what the fill model said, and finds in it what the strategy hears. */
  private applied(): readonly Heard[] {
    const { exchange, out } = this;
    this.refused += exchange.applyAll(out);
    const heard: Heard[] = [];
    let touched: Mirrored | undefined;
    for (let at = 0; at < out.words; at += commandWords(out.i32, at)) {
      const kind = commandKind(out.i32, at);
      if (kind === CommandKind.print) heard.push({ kind: 'trade', trade: this.tradeAt(at) });
      if (kind !== CommandKind.level) continue;
      const mirrored = this.mirroredAt(at);
      if (mirrored === touched) continue;
      touched = mirrored;
      noteMiddle(mirrored);
      heard.push({ kind: 'book', market: mirrored.market });
    }
    return heard;
  }

  private mirroredAt(at: number): Mirrored {
    const token = this.out.i32[at + LevelCommand.token]! as TokenRow;
    return this.byRow.get(tokenMarket(this.exchange.t, token))!;
  }

  private tradeAt(at: number): Trade {
    const { f64, i32 } = this.out;
    const { market } = this.mirroredAt(at);
    const outcome = i32[at + LevelCommand.token]! - market.first;
    return {
      token: market.tokens[outcome]!,
      side: i32[at + LevelCommand.side] === Side.buy ? 'BUY' : 'SELL',
      price: i32[at + LevelCommand.pips]! / PIPS_PER_UNIT,
      size: f64[at / 2 + LevelCommand.size]! / MICRO,
    };
  }

  private add(recorded: RecordedMarket): TradedMarket {
    const { exchange, settings, venue } = this;
    const { row, first } = exchange.addMarket(this.fieldsOf(recorded));
    const names: MarketNames = recorded;
    const market = new TradedMarket(exchange.t, names, row, first, recorded.minSizeMicro / MICRO);
    market.state = recorded.state;
    const paper = new EngineOrders(exchange.t, first);
    const { impact, queue } = settings;
    const book = new MirroredBook({ token: first, impact, queue, paper });
    const mirrored: Mirrored = { market, book, terms: recorded };
    this.byRow.set(row, mirrored);
    for (const token of recorded.tokens) this.byToken.set(token, mirrored);
    this.markets.add(recorded.tokens, book, this.inferred.has(recorded.tokens[0]!));
    venue.add(market);
    return market;
  }

  /** The source has changed the terms of a market: what stands off a coarser grid ends. */
  private change(mirrored: Mirrored, terms: MarketTerms): void {
    const { market } = mirrored;
    mirrored.terms = terms;
    if (market.state === 'resolved') return;
    market.state = terms.state;
    market.minSize = terms.minSizeMicro / MICRO;
    this.exchange.changeMarket(market.row, this.fieldsOf(terms));
  }

  private resolve({ market }: Mirrored, payout: readonly number[], isVoid: boolean): void {
    if (market.state === 'resolved') return;
    const sum = payout.reduce((total, weight) => total + weight, 0);
    if (payout.length !== 2 || !(sum > 0)) return;
    const weights = isVoid
      ? [1, 1]
      : payout.map((weight) => Math.round((weight / sum) * PAYOUT_SUM_MAX));
    this.venue.settle();
    this.exchange.resolve(market.row, weights, isVoid);
    const whole = weights[0]! + weights[1]!;
    this.venue.settleMarket(market, [weights[0]! / whole, weights[1]! / whole]);
  }

  private fieldsOf({ minSizeMicro, state, ticksPerUnit }: MarketTerms): MarketFields {
    return {
      flags: FLAGS[state],
      ticksPerUnit,
      baseFeeBps: this.settings.feeBps,
      minSize: minSizeMicro as MicroShares,
    };
  }
}

/** Where a side is empty, or the source is crossed, the last middle stays. */
function noteMiddle({ book, market }: Mirrored): void {
  const [bids, asks] = book.source.sides;
  if (bids.best === 0 || asks.best === 0 || book.source.crossed) return;
  market.mids = bids.best + PIPS_PER_UNIT - asks.best;
}
