/**
 * Ids and names in answers and frames about orders, trades and positions of an account, from the rows
 * of the engine's tables.
 *
 * Thread: I/O. Markets, tokens and accounts are never removed, so no version is needed to read
 * them.
 */
import {
  addressAt,
  conditionAt,
  tokenIdAt,
  tokenMarket,
  tokenOutcome,
} from '../../engine/reads.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS } from '../../engine/tables/codes.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { AccountRow, TokenRow } from '../../engine/tables/units.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import { checksumAddress } from '../identity/checksum.ts';
import type { MarketInfo, MarketLookup } from './texts.ts';

/** Shown in place of another caller's API key, because some clients require a UUID. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export interface TokenNames {
  /** Condition id. */
  readonly market: string;
  /** Decimal uint256. */
  readonly asset_id: string;
  /** The label; '' when the catalog does not list the market. */
  readonly outcome: string;
}

/** A checksum costs a Keccak digest, and pages name the same few wallets many times. */
const WALLETS_CACHED_MAX = 4_096;

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

  token(token: TokenRow): TokenNames {
    const { t } = this;
    const market = tokenMarket(t, token);
    const info = this.lookup(market);
    const known = this.names.get(token);
    if (known !== undefined && known.info === info) return known.names;
    const names = {
      market: wordsToHex(t.marketI, conditionAt(market), ID_WORDS),
      asset_id: wordsToDecimal(t.tokenI, tokenIdAt(token)),
      outcome: info?.outcomes[tokenOutcome(t, token)] ?? '',
    };
    this.names.set(token, { info, names });
    return names;
  }

  /** The address text with its EIP-55 checksum. */
  wallet(account: AccountRow): string {
    const known = this.wallets.get(account);
    if (known !== undefined) return known;
    const text = addressText(this.t.accountI, addressAt(account));
    if (this.wallets.size === WALLETS_CACHED_MAX) this.wallets.clear();
    this.wallets.set(account, text);
    return text;
  }
}

/** Five words as an address text with its EIP-55 checksum. */
export function addressText(words: Int32Array, at: number): string {
  const hex = wordsToHex(words, at, ADDRESS_WORDS);
  return checksumAddress(Buffer.from(hex.slice(2), 'hex'));
}

/** UUID text of the four words of an API key. */
export function apiKeyText(words: Int32Array, at = 0): string {
  const hex = wordsToHex(words, at, API_KEY_WORDS).slice(2);
  const part = (from: number, to: number): string => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}
