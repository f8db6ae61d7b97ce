/**
 * Survey of the messages of files in the public form: a catalog of their markets, which the form does not have.
 *
 *   markets     each name in `market`, with the tokens in the order in which they come: the first one is the first
 *               outcome, but a token with levels comes before one without; a second one that never comes gets an id
 *               derived from the first one's. One with more than two tokens is left out
 *   outcomes    `outcome` beside `asset_id`, where a message has it
 *   ticks       that before the first `tick_size_change`; without one the coarsest from 0.01 that has every price
 *   prints      where there is no `last_trade_price`, trades are inferred
 *
 * Thread: any.
 */

import type { SourceLevel } from '../../engine/paper/source-book.ts';
import { PIPS_PER_UNIT } from '../../engine/tables/units.ts';
import { isObject, type JsonObject } from '../catalog/catalog-json.ts';
import { CONDITION_PATTERN, wholeCondition } from '../catalog/condition-ids.ts';
import { derivedId, sha256 } from './derived-ids.ts';
import { RecordingDamaged, type RecordingEntry } from './entries.ts';
import { timeIn, understoodEvents } from './source-message.ts';

interface Span {
  first: number;
  last: number;
}

interface Found {
  readonly tokens: string[];
  readonly withLevels: Set<string>;
  readonly names: Map<string, string>;
  /** The coarsest grid from 100 on that has its prices. */
  ticksPerUnit: number;
  /** Tick before the first change; undefined without a change. */
  tick: { readonly text: string; readonly at: number } | undefined;
  levels: Span | undefined;
  prints: Span | undefined;
  first: number;
}

export interface Surveyed {
  readonly started: number;
  readonly markets: readonly string[];
  readonly inferred: readonly string[];
  readonly events: readonly JsonObject[];
  readonly leftOut: readonly string[];
  /** Names of markets without a level. Orders there trade with nobody. */
  readonly withoutLevels: readonly string[];
}

const KINDS = { levels: 'books', prints: 'trades' } as const;

export class MarketSurvey {
  private readonly found = new Map<string, Found>();
  private started: number | undefined;

  add(entry: RecordingEntry): void {
    if (entry.kind !== 'message') return;
    this.started ??= timeIn(entry.message);
    this.note(entry.message, entry.at);
  }

  /**
   * Adds the messages of another file.
   * @throws RecordingDamaged if both have books, or trades, of one market at the same time: they would count twice
   */
  join(other: MarketSurvey, path: string): void {
    if (other.started !== undefined)
      this.started = Math.min(this.started ?? other.started, other.started);
    for (const [name, theirs] of other.found) {
      const own = this.marketOf(name, theirs.first);
      for (const kind of ['levels', 'prints'] as const) {
        if (overlap(own[kind], theirs[kind]))
          throw new RecordingDamaged(
            `${path}: another file has ${KINDS[kind]} of the market ${name} at the same time`,
          );
        if (theirs[kind] !== undefined) own[kind] = spanOf(own[kind], theirs[kind]);
      }
      for (const token of theirs.tokens) addToken(own, token);
      for (const token of theirs.withLevels) own.withLevels.add(token);
      for (const [token, text] of theirs.names) own.names.set(token, text);
      own.ticksPerUnit = Math.max(own.ticksPerUnit, theirs.ticksPerUnit);
      own.first = Math.min(own.first, theirs.first);
      if (theirs.tick !== undefined && theirs.tick.at < (own.tick?.at ?? Number.POSITIVE_INFINITY))
        own.tick = theirs.tick;
    }
  }

  result(): Surveyed {
    const all = [...this.found].filter(([, { tokens }]) => tokens.length > 0);
    const binary = all.filter(([, { tokens }]) => tokens.length <= 2);
    return {
      started: this.started ?? 0,
      markets: binary.map(([name]) => name),
      inferred: binary.flatMap(([, market]) =>
        market.prints === undefined ? [tokensOf(market)[0]!] : [],
      ),
      events: binary.map(([name, market], index) => eventOf(name, market, index)),
      leftOut: all.filter(([, { tokens }]) => tokens.length > 2).map(([name]) => name),
      withoutLevels: binary.filter(([, { levels }]) => levels === undefined).map(([name]) => name),
    };
  }

  private marketOf(name: string, first: number): Found {
    let market = this.found.get(name);
    if (market === undefined) {
      market = {
        tokens: [],
        withLevels: new Set(),
        names: new Map(),
        ticksPerUnit: 100,
        tick: undefined,
        levels: undefined,
        prints: undefined,
        first,
      };
      this.found.set(name, market);
    }
    return market;
  }

  private note(message: JsonObject, at: number): void {
    const { market: name, old_tick_size: oldTick } = message;
    if (typeof name !== 'string') return;
    const market = this.marketOf(name, at);
    // Readers of the entries count damaged messages.
    for (const event of understoodEvents(message, () => undefined)) {
      if (event.kind === 'tick') {
        if (typeof oldTick === 'string') market.tick ??= { text: oldTick, at };
      } else if ('token' in event) {
        addToken(market, event.token);
        if (event.kind === 'print') market.prints = spanOf(market.prints, { first: at, last: at });
        else {
          market.levels = spanOf(market.levels, { first: at, last: at });
          market.withLevels.add(event.token);
          if (event.kind === 'changes') measure(market, event.changes);
          else for (const levels of [event.bids, event.asks]) measure(market, levels);
        }
      }
    }
    noteName(market, message);
    const { price_changes: changes } = message;
    if (Array.isArray(changes)) for (const change of changes) noteName(market, change);
  }
}

function noteName(market: Found, json: unknown): void {
  if (!isObject(json)) return;
  const { asset_id: token, outcome } = json;
  if (typeof outcome !== 'string' || typeof token !== 'string') return;
  if (market.tokens.includes(token)) market.names.set(token, outcome);
}

/** Adds a token. More than two are not retained, so a market cannot fill memory. */
function addToken({ tokens }: Found, token: string): void {
  if (tokens.length <= 2 && !tokens.includes(token)) tokens.push(token);
}

function overlap(one: Span | undefined, other: Span | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.first <= other.last && other.first <= one.last;
}

function spanOf(one: Span | undefined, other: Readonly<Span>): Span {
  if (one === undefined) return { ...other };
  one.first = Math.min(one.first, other.first);
  one.last = Math.max(one.last, other.last);
  return one;
}

function measure(market: Found, levels: readonly SourceLevel[]): void {
  for (const { pips } of levels) {
    while (pips % (PIPS_PER_UNIT / market.ticksPerUnit) !== 0) market.ticksPerUnit *= 10;
  }
}

function tokensOf({ tokens, withLevels }: Found): readonly [string, string] {
  const [first = '', second] = tokens;
  if (second === undefined) return [first, derivedId(`complement of ${first}`)];
  return !withLevels.has(first) && withLevels.has(second) ? [second, first] : [first, second];
}

function namesOf({ names }: Found, tokens: readonly string[]): readonly string[] {
  const [first = 'First', second = 'Second'] = tokens.map((token) => names.get(token));
  return first === second ? ['First', 'Second'] : [first, second];
}

function eventOf(name: string, market: Found, index: number): JsonObject {
  const { first, tick, ticksPerUnit } = market;
  const id = String(index + 1);
  const title = titleOf(name);
  const startDate = new Date(first).toISOString();
  const tokens = tokensOf(market);
  const listed = {
    id,
    question: title,
    slug: slugOf(name),
    conditionId: conditionOf(name),
    outcomes: namesOf(market, tokens),
    clobTokenIds: tokens,
    orderPriceMinTickSize: tick?.text ?? String(1 / ticksPerUnit),
    orderMinSize: 5,
    startDate,
    active: true,
  };
  return { id, title, slug: slugOf(name), startDate, active: true, markets: [listed] };
}

/** Returns the condition id of a market, which messages name by it or by any text. */
function conditionOf(name: string): string {
  return CONDITION_PATTERN.test(name) ? wholeCondition(name) : `0x${sha256(name).toString('hex')}`;
}

function slugOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

function titleOf(name: string): string {
  return name.startsWith('0x') ? `Market ${name.slice(0, 10)}` : name;
}
