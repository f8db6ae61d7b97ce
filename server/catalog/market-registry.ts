/**
 * Keeps the engine's markets equal to the catalog: a new market becomes a registration, a
 * difference becomes a change. Both are logged commands like any other. A market that the catalog
 * no longer lists accepts no more orders; its resting orders stay, because it may return, unless
 * the catalog says that it has ended.
 *
 * Thread: any, as long as no other market command is in progress.
 */

import { isDeepStrictEqual } from 'node:util';
import {
  CommandBuffer,
  encodeFeeSchedule,
  encodeMarket,
  encodeMarketChange,
  encodeTakerDelay,
  type FeeSchedule,
  FeeScheduleCommand,
  MarketCommand,
  type MarketFields,
  TakerDelayCommand,
} from '../../engine/commands.ts';
import { ledgerIsOn, proposalOf, resolutionOf } from '../../engine/ledger/reads.ts';
import { findToken } from '../../engine/markets/markets.ts';
import {
  catalogFlags,
  endsReached,
  hasReachedEnd,
  marketCount,
  marketEnd,
  marketFeeBps,
  marketFees,
  marketMinSize,
  marketTakerDelay,
  marketTicks,
  marketTokens,
  tokenMarket,
} from '../../engine/reads.ts';
import { OUTCOMES_MAX } from '../../engine/tables/capacities.ts';
import { ID_WORDS, MarketFlag } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import { isSchedule, type MarketRow, type MicroShares } from '../../engine/tables/units.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { NO_FEES } from '../../storage/catalog/fee-schedules.ts';
import { bytesToWords, decimalToWords } from '../common/uint256.ts';
import { marketByCondition } from '../market-data/find.ts';

/** Commands of one batch: few enough that orders do not wait long for it. */
const CHUNK_COMMANDS = 1_024;
/**
 * Maximum bytes of one batch: registering a wide market takes thirty times the bytes of a change.
 */
const CHUNK_BYTES = 2 ** 18;
const COMMAND_BYTES_MAX =
  4 *
  (MarketCommand.tokens +
    ID_WORDS * OUTCOMES_MAX +
    2 +
    2 * FeeScheduleCommand.words +
    TakerDelayCommand.words);

/** Rules by which a catalog becomes terms of markets. */
export interface RegistryRules {
  /** True: stated fee schedules become terms, and a market that states none has none (FEES_FROM_CATALOG). */
  readonly feesFromCatalog: boolean;
  /** True: taker delays are also those that it states (TAKER_DELAYS). */
  readonly takesDelays: boolean;
}

const STATED_IGNORED: RegistryRules = { feesFromCatalog: false, takesDelays: false };

export type MarketTerms = Omit<
  CatalogMarket,
  'question' | 'slug' | 'icon' | 'outcomes' | 'eventId' | 'eventSlug'
>;

/** A market whose end has come, and its time in unix milliseconds. */
export interface ReachedEnd {
  readonly condition: string;
  readonly end: number;
}

/**
 * Returns runs of commands that update the engine to the catalog, to be applied in order.
 * @param endedConditions see Catalog: ended markets that are not among `markets`
 * @param untouched condition ids of markets that stay as they are, though not among `markets`
 */
export function marketCommands(
  tables: Tables,
  markets: readonly MarketTerms[],
  warn: (line: string) => void,
  endedConditions: readonly string[] = [],
  untouched: readonly string[] = [],
  rules = STATED_IGNORED,
): Int32Array[] {
  const chunks: Int32Array[] = [];
  let out = new CommandBuffer(1 << 10);
  let count = 0;
  const finishChunk = (): void => {
    if (count > 0) chunks.push(out.i32.slice(0, out.words));
    out = new CommandBuffer(1 << 10);
    count = 0;
  };
  const add = (commands: number): void => {
    count += commands;
    const isFull = count >= CHUNK_COMMANDS || 4 * out.words + COMMAND_BYTES_MAX > CHUNK_BYTES;
    if (isFull) finishChunk();
  };
  const listed = new Set<number>(
    untouched.map((conditionId) => marketByCondition(tables, conditionId)),
  );
  const ended = new Set<number>();
  for (const conditionId of endedConditions) ended.add(marketByCondition(tables, conditionId));
  for (const market of markets) {
    listed.add(marketByCondition(tables, market.conditionId));
    const commands = appendMarket(tables, market, rules, out, warn);
    const isKnown = commands > 0 || marketByCondition(tables, market.conditionId) !== 0;
    add(commands + (isKnown ? appendDelay(tables, market, rules, out) : 0));
  }
  for (let slot = 1; slot <= marketCount(tables); slot++) {
    if (!listed.has(slot)) add(appendStop(tables, slot as MarketRow, ended.has(slot), out));
  }
  finishChunk();
  return chunks;
}

export function unpublishedResolutions(tables: Tables, markets: readonly MarketTerms[]): string[] {
  if (!ledgerIsOn(tables)) return [];
  const isUnpublished = ({ conditionId, proposed, resolved }: MarketTerms): boolean => {
    const market = resolved === true ? 0 : marketByCondition(tables, conditionId);
    if (market === 0) return false;
    return (
      resolutionOf(tables, market) !== undefined ||
      proposalOf(tables, market)?.deadline !== proposed
    );
  };
  return markets.filter(isUnpublished).map(({ conditionId }) => conditionId);
}

export function unpublishedEndsIn(tables: Tables, markets: readonly MarketTerms[]): ReachedEnd[] {
  if (endsReached(tables) === 0) return [];
  return markets.flatMap(({ conditionId, ended }) => {
    const market = ended ? 0 : marketByCondition(tables, conditionId);
    if (market === 0 || !hasReachedEnd(tables, market)) return [];
    return [{ condition: conditionId, end: marketEnd(tables, market) }];
  });
}

/**
 * Appends the command that stops a market and, if it has ended, cancels its orders. Returns how
 * many commands; none when it is done (docs/protocol.md#market-terms).
 */
function appendStop(
  tables: Tables,
  marketRow: MarketRow,
  hasEnded: boolean,
  out: CommandBuffer,
): number {
  const before = catalogFlags(tables, marketRow);
  const flags = (before & ~MarketFlag.tradable) | (hasEnded ? MarketFlag.ended : 0);
  if (flags === before) return 0;
  encodeMarketChange(out, marketRow, {
    flags,
    ticksPerUnit: marketTicks(tables, marketRow),
    baseFeeBps: marketFeeBps(tables, marketRow),
    minSize: marketMinSize(tables, marketRow),
  });
  return 1;
}

function appendMarket(
  tables: Tables,
  market: MarketTerms,
  rules: RegistryRules,
  out: CommandBuffer,
  warn: (line: string) => void,
): number {
  if (market.tokenIds.length > OUTCOMES_MAX) {
    warn(`market ${market.id} has ${market.tokenIds.length} outcomes; it gets no book`);
    return 0;
  }
  const marketRow = marketByCondition(tables, market.conditionId);
  const tokens = market.tokenIds.map(wordsOf);
  const fields: { -readonly [Field in keyof MarketFields]: MarketFields[Field] } = {
    flags: flagsOf(market),
    ticksPerUnit: market.ticksPerUnit,
    baseFeeBps: market.feeBps ?? (marketRow === 0 ? 0 : marketFeeBps(tables, marketRow)),
    minSize: market.minSizeMicro as MicroShares,
  };
  if (marketRow === 0) {
    if (market.end !== undefined && market.end !== 0) fields.end = market.end;
    if (tokens.some((words) => findToken(tables, words, 0) !== 0)) {
      warn(`market ${market.id} lists a token of another market; it gets no book`);
      return 0;
    }
    const condition = conditionWords(market);
    encodeMarket(out, fields, condition, tokens);
    const fees = feesOf(market, rules, NO_FEES, warn);
    if (fees.rate === 0) return 1;
    encodeFeeSchedule(out, condition, fees);
    return 2;
  }
  // A proposal keeps it halted, whatever a catalog says (docs/ledger.md#proposals).
  const flags = catalogFlags(tables, marketRow);
  if (
    !sameTokens(tables, marketRow, tokens) ||
    ((flags ^ fields.flags) & MarketFlag.negRisk) !== 0
  ) {
    warn(
      `market ${market.id}: its tokens or neg-risk flag differ from those registered; it stays as it is`,
    );
    return 0;
  }
  // It never trades again, whatever a catalog says (docs/ledger.md#resolution, docs/protocol.md#end-of-a-market).
  const over = flags & MarketFlag.endReached;
  if (over !== 0 || resolutionOf(tables, marketRow) !== undefined) {
    fields.flags = (fields.flags & ~MarketFlag.tradable) | MarketFlag.ended | over;
  } else if (market.end !== undefined && market.end !== marketEnd(tables, marketRow)) {
    fields.end = market.end;
  }
  const ticksPerUnit = marketTicks(tables, marketRow);
  const before = marketFees(tables, marketRow);
  const fees = feesOf(market, rules, before, warn);
  const hasFees = isDeepStrictEqual(fees, before);
  const isSame =
    fields.end === undefined &&
    flags === fields.flags &&
    ticksPerUnit === fields.ticksPerUnit &&
    marketFeeBps(tables, marketRow) === fields.baseFeeBps &&
    marketMinSize(tables, marketRow) === fields.minSize;
  const isOver = (fields.flags & MarketFlag.ended) !== 0;
  const feeChange = hasFees || isOver ? [] : [fees];
  if (isSame) return appendFees(market, feeChange, out);
  // A finer tick is refused while an old schedule takes more than its lowest sale, a new one before a coarser tick.
  const isFirst = feeChange.length > 0 && ticksPerUnit !== fields.ticksPerUnit;
  const cleared = isFirst ? appendFees(market, [NO_FEES], out) : 0;
  // Closing comes first, as a command of its own: a new tick size may be rejected for lack of room,
  // and must not keep a market open.
  const closes = (flags & ~fields.flags & MarketFlag.tradable) !== 0;
  const isAlone = !closes || ticksPerUnit === fields.ticksPerUnit;
  if (!isAlone) encodeMarketChange(out, marketRow, { ...fields, ticksPerUnit });
  encodeMarketChange(out, marketRow, fields);
  return cleared + (isAlone ? 1 : 2) + appendFees(market, feeChange, out);
}

function appendFees(
  market: MarketTerms,
  schedules: readonly FeeSchedule[],
  out: CommandBuffer,
): number {
  for (const fees of schedules) encodeFeeSchedule(out, conditionWords(market), fees);
  return schedules.length;
}

/** Schedule that a market is to have. An operator's comes first. */
function feesOf(
  { fees, id, statedFees, ticksPerUnit }: MarketTerms,
  { feesFromCatalog }: RegistryRules,
  before: FeeSchedule,
  warn: (line: string) => void,
): FeeSchedule {
  const wanted = fees ?? (feesFromCatalog ? (statedFees ?? NO_FEES) : before);
  const { exponent, rate, rebate } = wanted;
  if (isSchedule(ticksPerUnit, rate, exponent, rebate)) return wanted;
  warn(`market ${id}: its fee schedule could take more than a sale at its lowest tick: no fees`);
  return NO_FEES;
}

function conditionWords({ conditionId }: MarketTerms): Int32Array {
  return bytesToWords(Buffer.from(conditionId.slice(2), 'hex'), new Int32Array(ID_WORDS));
}

/** Appends the taker delay that an operator has set, or else the stated one, where the market has another one. */
function appendDelay(
  tables: Tables,
  market: MarketTerms,
  { takesDelays }: RegistryRules,
  out: CommandBuffer,
): number {
  const { conditionId, statedDelay = 0, takerDelay: set } = market;
  const takerDelay = set ?? (takesDelays ? statedDelay : undefined);
  if (takerDelay === undefined) return 0;
  const marketRow = marketByCondition(tables, conditionId);
  const before = marketRow === 0 ? 0 : marketTakerDelay(tables, marketRow);
  if (takerDelay === before) return 0;
  encodeTakerDelay(out, conditionWords(market), takerDelay);
  return 1;
}

function wordsOf(tokenId: string): Int32Array {
  const words = new Int32Array(ID_WORDS);
  decimalToWords(tokenId, words, 0);
  return words;
}

function flagsOf(market: MarketTerms): number {
  return (
    (market.tradable ? MarketFlag.tradable : 0) |
    (market.ended ? MarketFlag.ended : 0) |
    (market.negRisk ? MarketFlag.negRisk : 0)
  );
}

function sameTokens(tables: Tables, market: MarketRow, tokens: readonly Int32Array[]): boolean {
  if (marketTokens(tables, market) !== tokens.length) return false;
  return tokens.every((words) => {
    const token = findToken(tables, words, 0);
    return token !== 0 && tokenMarket(tables, token) === market;
  });
}
