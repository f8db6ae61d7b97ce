/**
 * The source of a recording: its catalog, messages and resolutions, applied to the exchange through the fill model.
 * Returns the events for which the strategy is called.
 */
import {
  CommandBuffer,
  CommandKind,
  commandKind,
  commandWords,
  type FeeSchedule,
  LevelCommand,
  type MarketFields,
  Side,
} from '../../engine/commands.ts';
import { MirroredBook } from '../../engine/paper/mirrored-book.ts';
import { MirroredMarket } from '../../engine/paper/mirrored-market.ts';
import { EngineOrders } from '../../engine/paper/paper-orders.ts';
import { marketTicks, tokenMarket } from '../../engine/reads.ts';
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
import { NO_FEES } from '../../storage/catalog/fee-schedules.ts';
import type { Payout } from '../../storage/catalog/payout.ts';
import { placesOf, registeredAs } from '../../storage/catalog/registered-markets.ts';
import type { ReadEntry } from '../../storage/recordings/recording.ts';
import { type SourceEvent, understoodEvents } from '../../storage/recordings/source-message.ts';
import type { Exchange } from './exchange.ts';
import { type MarketNames, TradedMarket } from './markets.ts';
import { type MarketTerms, type RecordedMarket, recordedMarkets } from './recorded-markets.ts';
import { RECORDED, type RunSettings } from './result.ts';
import type { Trade } from './strategy.ts';
import type { StrategyVenue } from './venue.ts';

export type Heard =
  | { readonly kind: 'market' | 'book'; readonly market: TradedMarket }
  | { readonly kind: 'trade'; readonly trade: Trade };

interface Mirrored {
  readonly market: TradedMarket;
  /** Event of a changed book, the same each time. */
  readonly changed: Heard;
  readonly model: MirroredMarket;
  terms: MarketTerms;
}

const FLAGS = { open: MarketFlag.tradable, halted: 0, closed: MarketFlag.ended } as const;
const NOTHING: readonly Heard[] = [];

export class Source {
  refused = 0;
  damaged = 0;
  private readonly exchange: Exchange;
  private readonly venue: StrategyVenue;
  private readonly settings: RunSettings;
  private readonly inferred: ReadonlySet<string>;
  private readonly byToken = new Map<string, Mirrored>();
  private readonly byId = new Map<string, Mirrored>();
  private readonly byRow = new Map<MarketRow, Mirrored>();
  private readonly out = new CommandBuffer();

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

  take(entry: ReadEntry): readonly Heard[] {
    if (entry.kind === 'read') return this.events(entry.events);
    if (entry.kind === 'catalog') return this.catalog(entry.event);
    if (entry.kind === 'damaged') this.noteDamaged();
    if (entry.kind !== 'message') return NOTHING;
    return this.events(understoodEvents(entry.message, this.noteDamaged));
  }

  /** Adds a catalog event of the source, or replaces its terms. */
  private catalog(event: JsonObject): readonly Heard[] {
    const heard: Heard[] = [];
    for (const named of recordedMarkets(event)) {
      const known = this.knownBy(named);
      if (known === undefined) {
        const mirrored = this.add(named);
        heard.push({ kind: 'market', market: mirrored.market });
        this.resolve(mirrored, named.payout);
        continue;
      }
      const recorded = inOrderOf(known.market, named);
      if (recorded === undefined) {
        this.damaged += 1;
        continue;
      }
      this.change(known, recorded);
      this.resolve(known, recorded.payout);
    }
    return heard;
  }

  private knownBy({ id, tokens }: RecordedMarket): Mirrored | undefined {
    const token = tokens.find((one) => this.byToken.has(one));
    return token === undefined ? this.byId.get(id) : this.byToken.get(token);
  }

  private events(events: readonly SourceEvent[]): readonly Heard[] {
    const { out } = this;
    out.clear();
    for (const event of events) this.event(event);
    return out.words === 0 ? NOTHING : this.applied();
  }

  private readonly noteDamaged = (): void => {
    this.damaged += 1;
  };

  private event(event: SourceEvent): void {
    if (event.kind === 'listed') return;
    if (event.kind === 'resolved') {
      this.resolved(event.tokens, event.payout);
      return;
    }
    const mirrored = this.byToken.get(event.token);
    if (mirrored === undefined) return;
    if (event.kind === 'tick') {
      const ticksPerUnit = PIPS_PER_UNIT / event.pips;
      if (isTickGrid(ticksPerUnit)) mirrored.terms = { ...mirrored.terms, ticksPerUnit };
    }
    mirrored.model.apply(event, this.out);
  }

  /** Resolves by a message. A catalog made of messages may know only one of the tokens. */
  private resolved(tokens: readonly string[], payout: Payout | undefined): void {
    const known = tokens.findIndex((token) => this.byToken.has(token));
    const mirrored = this.byToken.get(tokens[known] ?? '');
    if (mirrored === undefined) return;
    const other = tokens[1 - known] ?? '';
    const isOfOther = this.byToken.has(other) && this.byToken.get(other) !== mirrored;
    if (tokens.length !== 2 || isOfOther || tokens[0] === tokens[1]) {
      this.damaged += 1;
      return;
    }
    const isTurned = mirrored.market.tokens[known] !== tokens[known];
    const isList = payout !== undefined && payout !== 'void';
    this.resolve(mirrored, isTurned && isList ? payout.toReversed() : payout);
  }

  /** Applies the commands of the fill model. Returns the events of the strategy that follow. */
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
      heard.push(mirrored.changed);
    }
    return heard;
  }

  private mirroredAt(at: number): Mirrored {
    const token = this.out.i32[at + LevelCommand.token]! as TokenRow;
    return this.byRow.get(tokenMarket(this.exchange.tables, token))!;
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

  private add(recorded: RecordedMarket): Mirrored {
    const { exchange, settings, venue } = this;
    const { row, first } = exchange.addMarket(this.fieldsOf(recorded));
    exchange.setFees(row, this.feesOf(recorded));
    exchange.setTakerDelay(row, this.takerDelayOf(recorded));
    const names: MarketNames = recorded;
    const market = new TradedMarket(
      exchange.tables,
      names,
      row,
      first,
      recorded.minSizeMicro / MICRO,
    );
    market.state = recorded.state;
    const paper = new EngineOrders(exchange.tables, first);
    const { impact, queue } = settings;
    const book = new MirroredBook({ token: first, impact, queue, paper });
    const [id = ''] = recorded.tokens;
    const model = new MirroredMarket(book, id, this.inferred.has(id));
    const changed = { kind: 'book', market } as const;
    const mirrored: Mirrored = { market, changed, model, terms: recorded };
    this.byRow.set(row, mirrored);
    this.byId.set(recorded.id, mirrored);
    for (const token of recorded.tokens) this.byToken.set(token, mirrored);
    venue.add(market);
    return mirrored;
  }

  /** Changes the terms of a market. Orders off a coarser grid end. */
  private change(mirrored: Mirrored, terms: MarketTerms): void {
    const { market } = mirrored;
    mirrored.terms = terms;
    if (market.state === 'resolved') return;
    market.state = terms.state;
    market.minSize = terms.minSizeMicro / MICRO;
    const { exchange } = this;
    const fields = this.fieldsOf(terms);
    // An old schedule may not suit a finer tick.
    if (fields.ticksPerUnit !== marketTicks(exchange.tables, market.row))
      exchange.setFees(market.row, NO_FEES);
    exchange.changeMarket(market.row, fields);
    exchange.setFees(market.row, this.feesOf(terms));
    exchange.setTakerDelay(market.row, this.takerDelayOf(terms));
  }

  private feesOf({ fees }: MarketTerms): FeeSchedule {
    return this.settings.feeBps === RECORDED ? fees : NO_FEES;
  }

  private takerDelayOf({ takerDelayMs }: MarketTerms): number {
    const { takerDelayMs: chosen } = this.settings;
    return chosen === RECORDED ? takerDelayMs : chosen;
  }

  /** @param payout undefined while uncertain */
  private resolve({ market }: Mirrored, payout: Payout | undefined): void {
    if (market.state === 'resolved' || payout === undefined) return;
    const isVoid = payout === 'void';
    const weights = isVoid ? [1, 1] : [...payout];
    if (weights.length !== 2) return;
    this.venue.settle();
    this.exchange.resolve(market.row, weights, isVoid);
    const whole = weights[0]! + weights[1]!;
    this.venue.settleMarket(market, [weights[0]! / whole, weights[1]! / whole]);
  }

  private fieldsOf({ minSizeMicro, state, ticksPerUnit }: MarketTerms): MarketFields {
    return {
      flags: FLAGS[state],
      ticksPerUnit,
      baseFeeBps: this.settings.feeBps === RECORDED ? 0 : this.settings.feeBps,
      minSize: minSizeMicro as MicroShares,
    };
  }
}

/**
 * Returns the payout in the order of the outcomes of the market; undefined if it names other tokens, or exchanges
 * names.
 */
function inOrderOf(
  { outcomes, tokens }: TradedMarket,
  recorded: RecordedMarket,
): RecordedMarket | undefined {
  const named = { tokenIds: recorded.tokens, names: recorded.outcomes };
  const places = placesOf(named, registeredAs(tokens), outcomes);
  if (typeof places === 'string') return undefined;
  const { payout } = recorded;
  if (payout === undefined || payout === 'void' || payout.length !== places.length) return recorded;
  return { ...recorded, payout: places.map((place) => payout[place]!) };
}

/** Updates the middle price. It stays while a side is empty or the source is crossed. */
function noteMiddle({ market, model }: Mirrored): void {
  const { source } = model.book;
  const [bids, asks] = source.sides;
  if (bids.best === 0 || asks.best === 0 || source.crossed) return;
  market.mids = bids.best + PIPS_PER_UNIT - asks.best;
}
