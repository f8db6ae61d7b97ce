/**
 * Ids and names in answers and frames about the orders, trades and positions of an account, from the rows of the
 * engine's tables.
 *
 * Thread: I/O. Markets, tokens and accounts are never removed, so no version is needed to read them.
 */
import {
  ACCOUNT_I,
  Account,
  ADDRESS_WORDS,
  API_KEY_WORDS,
  ID_WORDS,
  MARKET_I,
  Market,
  TOKEN_I,
  Token,
} from '../../engine/tables/layout.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { MarketRow } from '../../engine/tables/units.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import { checksumAddress } from '../identity/checksum.ts';
import type { MarketInfo, MarketLookup } from './texts.ts';

/** What stands for the API key of somebody else: some clients insist on a UUID. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export interface TokenNames {
  /** Condition id. */
  readonly market: string;
  /** Decimal uint256. */
  readonly asset_id: string;
  /** The label; '' when the catalog does not list the market. */
  readonly outcome: string;
}

/** A checksum costs a digest; pages name the same few wallets again and again. */
const WALLETS_KEPT = 4_096;

/** Letter case of the status of an order (ORDER_STATUS). */
export type OrderStatusCase = 'lower' | 'upper';

export class AccountTexts {
  readonly orderStatus: OrderStatusCase;
  readonly t: Tables;
  private readonly wallets = new Map<number, string>();
  private readonly names = new Map<
    number,
    { readonly info: MarketInfo | undefined; readonly names: TokenNames }
  >();
  private readonly lookup: MarketLookup;

  constructor(tables: Tables, lookup: MarketLookup, orderStatus: OrderStatusCase = 'lower') {
    this.orderStatus = orderStatus;
    this.t = tables;
    this.lookup = lookup;
  }

  token(token: number): TokenNames {
    const { marketI, tokenI } = this.t;
    const row = token << TOKEN_I;
    const market = tokenI[row + Token.market]! as MarketRow;
    const info = this.lookup(market);
    const known = this.names.get(token);
    if (known !== undefined && known.info === info) return known.names;
    const names = {
      market: wordsToHex(marketI, (market << MARKET_I) + Market.condition, ID_WORDS),
      asset_id: wordsToDecimal(tokenI, row + Token.id),
      outcome: info?.outcomes[tokenI[row + Token.outcome]!] ?? '',
    };
    this.names.set(token, { info, names });
    return names;
  }

  /** With its checksum. */
  wallet(account: number): string {
    const known = this.wallets.get(account);
    if (known !== undefined) return known;
    const at = (account << ACCOUNT_I) + Account.address;
    const hex = wordsToHex(this.t.accountI, at, ADDRESS_WORDS);
    const text = checksumAddress(Buffer.from(hex.slice(2), 'hex'));
    if (this.wallets.size === WALLETS_KEPT) this.wallets.clear();
    this.wallets.set(account, text);
    return text;
  }
}

/** UUID text of the four words of an API key. */
export function apiKeyText(words: Int32Array): string {
  const hex = wordsToHex(words, 0, API_KEY_WORDS).slice(2);
  const part = (from: number, to: number): string => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}
