/**
 * Ladder of resting orders of a maker that quotes a binary market by a logarithmic market scoring rule. Rules:
 * docs/protocol.md#liquidity-of-the-house
 *
 * Pure; any thread. Logarithms decide sizes only: prices are whole ticks, sizes whole hundredths of a share, and costs
 * whole micro-units within the cash that is given.
 */
import { MICRO } from '../../engine/tables/units.ts';

/** Values by outcome. */
export type Pair = readonly [number, number];

export interface Rule {
  /** Parameter b in micro-shares: the shares that move the price by about a quarter of itself at a half. */
  readonly depth: number;
  /** Shares of the first outcome above those of the second at which both cost the same, in micro-shares. */
  readonly centre: number;
}

export interface Terms {
  readonly ticksPerUnit: number;
  /** Micro-shares. */
  readonly minSize: number;
}

export interface Holding {
  /** Micro-units that its orders may reserve. */
  readonly cash: number;
  /** Micro-shares by outcome, which its orders may sell. */
  readonly shares: Pair;
}

export interface Quote {
  readonly outcome: 0 | 1;
  readonly side: 'BUY' | 'SELL';
  /** Ticks of its own outcome. */
  readonly ticks: number;
  /** Micro-shares. */
  readonly size: number;
}

/** Micro-shares: whole hundredths cost whole micro-units on every tick grid. */
const LOT = MICRO / 100;
/** Steps of a ladder are a hundredth of the collateral where the minimum size allows. */
const STEPS_PER_UNIT = 100;
/** At a half, where the rule sells the fewest shares for a change of the price. */
const LEAST_SLOPE = 4;

/** Price of the first outcome by the rule, between 0 and 1. */
export function chanceOf({ centre, depth }: Rule, [first, second]: Pair): number {
  return 1 / (1 + Math.exp((first - second - centre) / depth));
}

/**
 * Returns the deepest rule that starts at a price and cannot lose more than the account has.
 * @param worth cash and shares of the account in micro-units, if an outcome wins
 */
export function ruleOf(chance: number, [ifFirst, ifSecond]: Pair, [first, second]: Pair): Rule {
  const most = Math.min(ifFirst / -Math.log(chance), ifSecond / -Math.log1p(-chance));
  const depth = Math.floor(most);
  const centre = Math.round(first - second - depth * Math.log((1 - chance) / chance));
  return { depth, centre };
}

/**
 * Orders of both outcomes, the best prices first, at most `levels` for each.
 * @param resting remaining size of the account's order at a price, 0 = none: it stays where it fits
 */
export function ladderOf(
  rule: Rule,
  terms: Terms,
  { cash, shares }: Holding,
  levels: number,
  resting: (quote: Omit<Quote, 'size'>) => number = () => 0,
): Quote[] {
  if (rule.depth <= 0) return [];
  const step = stepOf(rule, terms);
  const budget = { cash };
  const sides = ([0, 1] as const).map((outcome) => {
    const other = shares[1 - outcome]!;
    const centre = outcome === 0 ? rule.centre : -rule.centre;
    const owned = shares[outcome] - other - centre;
    return quotesOf(outcome, owned, other, { rule, terms, step, budget, resting });
  });
  const quotes: Quote[] = [];
  // In turn, so that neither side takes all of the cash.
  for (let level = 0; level < levels; level++) {
    for (const side of sides) {
      const { value } = side.next();
      if (value !== undefined) quotes.push(value);
    }
  }
  return quotes;
}

function stepOf({ depth }: Rule, { minSize, ticksPerUnit }: Terms): number {
  const forMinimum = Math.ceil((minSize * ticksPerUnit) / (LEAST_SLOPE * depth));
  return Math.max(1, Math.floor(ticksPerUnit / STEPS_PER_UNIT), forMinimum);
}

interface SideParts {
  readonly rule: Rule;
  readonly terms: Terms;
  readonly step: number;
  readonly budget: { cash: number };
  readonly resting: (quote: Omit<Quote, 'size'>) => number;
}

/**
 * Quotes that lower the price of an outcome when they are filled: they buy it, or sell what is held of the other one,
 * which costs nothing. Each pays the price at which its last share leaves the rule.
 */
function* quotesOf(
  outcome: 0 | 1,
  owned: number,
  held: number,
  parts: SideParts,
): Generator<Quote, undefined> {
  const { budget, rule, step, terms } = parts;
  const { ticksPerUnit: grid } = terms;
  const other = outcome === 0 ? 1 : 0;
  let placed = 0;
  let left = held;
  for (let ticks = step * Math.floor((grid - 1) / step); ticks > 0; ticks -= step) {
    const room = rule.depth * Math.log((grid - ticks) / ticks) - owned - placed;
    const sale = { outcome: other, side: 'SELL', ticks: grid - ticks } as const;
    const quote =
      sized(sale, Math.min(room, left), parts) ??
      sized(
        { outcome, side: 'BUY', ticks },
        Math.min(room, affordable(budget.cash, terms, ticks)),
        parts,
      );
    if (quote === undefined) continue;
    if (quote.side === 'SELL') left -= quote.size;
    else budget.cash -= costOf(quote.size, terms, ticks);
    placed += quote.size;
    yield quote;
  }
}

/** Quote of at most a size: the order that rests there, where it is as large, or another one. */
function sized(
  place: Omit<Quote, 'size'>,
  most: number,
  { resting, terms }: SideParts,
): Quote | undefined {
  const size = lots(most);
  const before = resting(place);
  if (before > 0 && before <= most && before > size - LOT) return { ...place, size: before };
  return size > 0 && size >= terms.minSize ? { ...place, size } : undefined;
}

function lots(size: number): number {
  return Math.floor(size / LOT) * LOT;
}

/** Rounded up: the rest of an order that has traded may be any number of micro-shares. */
function costOf(size: number, { ticksPerUnit }: Terms, ticks: number): number {
  return Number((BigInt(size) * BigInt(ticks) + BigInt(ticksPerUnit - 1)) / BigInt(ticksPerUnit));
}

function affordable(cash: number, { ticksPerUnit }: Terms, ticks: number): number {
  return Number((BigInt(Math.max(0, cash)) * BigInt(ticksPerUnit)) / BigInt(ticks));
}
