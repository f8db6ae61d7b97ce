/**
 * Texts of a token that never change, or change only with the catalog: ids and the constant parts of books and trade
 * rows, as bytes to copy. They are made on first use, so tokens may be registered at any time.
 *
 * Thread: I/O. Non-goals: prices, sizes, anything that a book's version covers.
 */

import { conditionAt, tokenMarket, tokenOutcome } from '../../engine/reads.ts';
import { ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow, TokenRow } from '../../engine/tables/units.ts';
import { wordsToHex } from '../common/uint256.ts';
import { KnownTokens, UNKNOWN } from './known-tokens.ts';

export interface MarketInfo {
  readonly question: string;
  readonly slug: string;
  readonly icon: string;
  readonly eventSlug: string;
  readonly eventId?: string;
  /** ISO 8601; absent or '' = none. */
  readonly endDate?: string;
  readonly archived?: boolean;
  /** Labels in the order of the token ids. */
  readonly outcomes: readonly string[];
  readonly tokenIds?: readonly string[];
}

export interface MarketLifecycle extends Pick<MarketInfo, 'question' | 'slug' | 'outcomes'> {
  readonly description: string;
  readonly active: boolean;
  /** Tick size; 0 = unreadable. */
  readonly tick: number;
  /** Facts of the catalog, each where it has them. */
  readonly listed: {
    readonly feesEnabled?: boolean;
    readonly feeSchedule?: object;
    readonly sportsMarketType?: string;
    readonly line?: number;
    readonly gameStartTime?: string;
    readonly groupItemTitle?: string;
  };
  readonly event: {
    readonly id: string;
    readonly ticker: string;
    readonly slug: string;
    readonly title: string;
    readonly description: string;
  };
}

/**
 * Returns the same object until the catalog changes, because texts are cached by object. Called for each trade row.
 */
export type MarketLookup = (market: MarketRow) => MarketInfo | undefined;

export interface TradeTexts {
  readonly info: MarketInfo | undefined;
  /** From the wallet's closing quote to the size, for a BUY and a SELL. */
  readonly buy: Buffer;
  readonly sell: Buffer;
  /** From after usdcSize to the `0x` of the transaction hash. */
  readonly tail: Buffer;
}

export class TokenTexts {
  private readonly tables: Tables;
  private readonly lookup: MarketLookup;
  /**
   * Look-up in the current catalog generation that survives its replacement, for answers of several event-loop
   * iterations. A new generation has another one.
   */
  readonly pinnedLookup: () => MarketLookup;
  private readonly asset: 'outcome' | 'token';
  readonly known: KnownTokens;
  private readonly heads = new Map<TokenRow, Buffer>();
  private readonly trades = new Map<TokenRow, TradeTexts>();

  constructor(
    tables: Tables,
    lookup: MarketLookup,
    asset: 'outcome' | 'token' = 'outcome',
    pinnedLookup: () => MarketLookup = () => lookup,
  ) {
    this.tables = tables;
    this.pinnedLookup = pinnedLookup;
    this.asset = asset;
    this.known = new KnownTokens(tables);
    this.lookup = lookup;
  }

  find(tokenId: string): TokenRow | 0 {
    const token = this.known.find(tokenId);
    return token === UNKNOWN ? 0 : (this.known.slots[token]! as TokenRow);
  }

  /** Beginning of a book, up to the opening quote of its timestamp (docs/protocol.md#book-hash). */
  bookHead(token: TokenRow): Buffer {
    const known = this.heads.get(token);
    if (known !== undefined) return known;
    const id = this.known.ids[this.known.of(token)]!;
    const market = tokenMarket(this.tables, token);
    const condition = this.conditionId(market);
    const head = Buffer.from(`{"market":"${condition}","asset_id":"${id}","timestamp":"`, 'latin1');
    this.heads.set(token, head);
    return head;
  }

  tokenId(token: TokenRow): string {
    return this.known.ids[this.known.of(token)]!;
  }

  /** Name of a token in rows of the data API (docs/protocol.md#identifiers). */
  assetOf(token: TokenRow): string {
    if (this.asset === 'token') return this.tokenId(token);
    const outcome = tokenOutcome(this.tables, token);
    return `${this.conditionId(tokenMarket(this.tables, token))}:${outcome}`;
  }

  /**
   * Members for the token in rows of trades and positions: `asset`, and `token_id` if `asset` is not it.
   * @param token 0 = none: both are empty
   */
  assetMembers(token: TokenRow | 0): string {
    const [asset, id] = token === 0 ? ['', ''] : [this.assetOf(token), this.tokenId(token)];
    return this.asset === 'token' ? `"asset":"${asset}"` : `"asset":"${asset}","token_id":"${id}"`;
  }

  info(market: MarketRow): MarketInfo | undefined {
    return this.lookup(market);
  }

  trade(token: TokenRow, info: MarketInfo | undefined): TradeTexts {
    const market = tokenMarket(this.tables, token);
    const known = this.trades.get(token);
    if (known !== undefined && known.info === info) return known;
    const texts = this.makeTradeTexts(token, market, info);
    this.trades.set(token, texts);
    return texts;
  }

  private makeTradeTexts(
    token: TokenRow,
    market: MarketRow,
    info: MarketInfo | undefined,
  ): TradeTexts {
    const condition = this.conditionId(market);
    const outcome = tokenOutcome(this.tables, token);
    const ids = `${this.assetMembers(token)},"conditionId":"${condition}","size":`;
    const quoted = (text: string | undefined): string => JSON.stringify(text ?? '');
    const tail =
      `,"title":${quoted(info?.question)},"slug":${quoted(info?.slug)}` +
      `,"icon":${quoted(info?.icon)},"eventSlug":${quoted(info?.eventSlug)}` +
      `,"outcome":${quoted(info?.outcomes[outcome])},"outcomeIndex":${outcome}` +
      ',"name":"","pseudonym":"","bio":"","profileImage":"","profileImageOptimized":""' +
      ',"transactionHash":"0x';
    return {
      info,
      buy: Buffer.from(`","side":"BUY",${ids}`),
      sell: Buffer.from(`","side":"SELL",${ids}`),
      tail: Buffer.from(tail),
    };
  }

  conditionId(market: MarketRow): string {
    return wordsToHex(this.tables.marketI, conditionAt(market), ID_WORDS);
  }
}

export function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Copies `bytes` to `out`. Returns the position after them. */
export function put(bytes: Uint8Array, out: Uint8Array, at: number): number {
  out.set(bytes, at);
  return at + bytes.length;
}
