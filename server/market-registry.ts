/**
 * Keeps the engine's markets equal to the catalog: what is new becomes a registration, what differs
 * a change, each a journaled command like any other. Also answers what the catalog says of a market.
 *
 * Thread: the I/O thread.
 */
import { CommandBuffer, encodeMarket, encodeMarketChange } from '../engine/commands.ts';
import {
  ID_WORDS,
  MARKET_F,
  MARKET_I,
  Market,
  MarketFlag,
  State,
  TOKEN_I,
  Token,
} from '../engine/layout.ts';
import { OUTCOMES_MAX } from '../engine/limits.ts';
import { findMarket, findToken } from '../engine/markets.ts';
import type { Tables } from '../engine/tables.ts';
import type { MarketSlot, MicroShares } from '../engine/units.ts';
import type { CatalogMarket } from '../storage/catalog-file.ts';
import { bytesToWords } from './prepare.ts';
import type { MarketInfo } from './texts.ts';
import { decimalToWords, hexToBytes } from './uint256.ts';

/** Commands of one batch: small enough that orders are not held up behind them for long. */
const CHUNK_COMMANDS = 1_024;

const condition = new Uint8Array(32);
const conditionWords = new Int32Array(ID_WORDS);

/** Runs of commands, to be applied one after another, that bring the engine up to the catalog. */
export function marketCommands(
  t: Tables,
  markets: readonly CatalogMarket[],
  warn: (line: string) => void,
): Int32Array[] {
  const chunks: Int32Array[] = [];
  let out = new CommandBuffer(1 << 10);
  let count = 0;
  for (const market of markets) {
    if (!appendMarket(t, market, out, warn)) continue;
    count += 1;
    if (count === CHUNK_COMMANDS) {
      chunks.push(out.i32.slice(0, out.words));
      out = new CommandBuffer(1 << 10);
      count = 0;
    }
  }
  if (count > 0) chunks.push(out.i32.slice(0, out.words));
  return chunks;
}

/** Appends what this market needs; false when it is as it should be, or cannot be traded. */
function appendMarket(
  t: Tables,
  market: CatalogMarket,
  out: CommandBuffer,
  warn: (line: string) => void,
): boolean {
  if (market.tokenIds.length > OUTCOMES_MAX) {
    warn(`market ${market.id} has ${market.tokenIds.length} outcomes; it gets no book`);
    return false;
  }
  const slot = findCondition(t, market.conditionId);
  const tokens = market.tokenIds.map((id) => {
    const words = new Int32Array(ID_WORDS);
    decimalToWords(id, words, 0);
    return words;
  });
  const fields = {
    flags: flagsOf(market),
    ticksPerUnit: market.ticksPerUnit,
    baseFeeBps: 0,
    minSize: market.minSizeMicro as MicroShares,
  };
  if (slot === 0) {
    if (tokens.some((words) => findToken(t, words, 0) !== 0)) {
      warn(`market ${market.id} lists a token of another market; it gets no book`);
      return false;
    }
    encodeMarket(out, fields, conditionWords, tokens);
    return true;
  }
  const row = slot << MARKET_I;
  const flags = t.marketI[row + Market.flags]!;
  if (!sameTokens(t, slot, tokens) || ((flags ^ fields.flags) & MarketFlag.negRisk) !== 0) {
    warn(`market ${market.id}: its tokens or neg-risk flag differ from those registered; kept`);
    return false;
  }
  const isSame =
    flags === fields.flags &&
    t.marketI[row + Market.ticksPerUnit] === fields.ticksPerUnit &&
    t.marketF[(slot << MARKET_F) + Market.minSize] === fields.minSize;
  if (isSame) return false;
  // The fee stays the market's own: fee fields of imported catalogs are ignored (GAPS 12).
  const baseFeeBps = t.marketI[row + Market.baseFeeBps]!;
  encodeMarketChange(out, slot, { ...fields, baseFeeBps });
  return true;
}

function flagsOf(market: CatalogMarket): number {
  return (
    (market.tradable ? MarketFlag.tradable : 0) |
    (market.ended ? MarketFlag.ended : 0) |
    (market.negRisk ? MarketFlag.negRisk : 0)
  );
}

function findCondition(t: Tables, conditionId: string): MarketSlot | 0 {
  if (!hexToBytes(conditionId, 32, condition, 0)) return 0;
  return findMarket(t, bytesToWords(condition, conditionWords), 0);
}

function sameTokens(t: Tables, market: MarketSlot, tokens: readonly Int32Array[]): boolean {
  const row = market << MARKET_I;
  if (t.marketI[row + Market.tokenCount] !== tokens.length) return false;
  const first = t.marketI[row + Market.firstToken]!;
  return tokens.every((words, outcome) =>
    words.every((word, w) => t.tokenI[((first + outcome) << TOKEN_I) + Token.id + w] === word),
  );
}

/** Market slot to what the catalog says of it. */
export class MarketInfos {
  private readonly t: Tables;
  private readonly bySlot = new Map<MarketSlot, MarketInfo>();
  private byCondition: ReadonlyMap<string, CatalogMarket> = new Map();

  constructor(t: Tables) {
    this.t = t;
  }

  /** Takes a new catalog: every answer from here on is of it. */
  replace(markets: readonly CatalogMarket[]): void {
    this.byCondition = new Map(markets.map((market) => [market.conditionId, market]));
    this.bySlot.clear();
  }

  find(market: MarketSlot): MarketInfo | undefined {
    const known = this.bySlot.get(market);
    if (known !== undefined) return known;
    if (market < 1 || market > this.t.state[State.markets]!) return undefined;
    const found = this.byCondition.get(conditionText(this.t, market));
    if (found !== undefined) this.bySlot.set(market, found);
    return found;
  }
}

function conditionText(t: Tables, market: MarketSlot): string {
  let text = '0x';
  for (let w = 0; w < ID_WORDS; w++) {
    const word = t.marketI[(market << MARKET_I) + Market.condition + w]! >>> 0;
    text += word.toString(16).padStart(8, '0');
  }
  return text;
}
