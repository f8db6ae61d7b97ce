/**
 * Ids and names in answers and frames about orders, trades and positions of an account, read from the tables of the
 * engine.
 *
 * Thread: I/O. Markets, tokens and accounts are never removed, so reading them needs no version.
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
import { checksumAddress } from '../auth/checksum.ts';
import { BoundedCache } from '../common/bounded-cache.ts';
import { wordsToDecimal, wordsToHex } from '../common/uint256.ts';
import type { MarketInfo, MarketLookup } from './texts.ts';

/** Replaces another caller's API key, because some clients require a UUID. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export interface TokenNames {
  readonly market: string;
  readonly asset_id: string;
  /** Label of the outcome; '' if the catalog does not list the market. */
  readonly outcome: string;
}

/** Bound of cached checksums. Each costs a Keccak digest, and pages name the same few wallets many times. */
const WALLETS_CACHED_MAX = 4_096;

export type OrderStatusCase = 'lower' | 'upper';

export class AccountTexts {
  readonly orderStatus: OrderStatusCase;
  readonly tables: Tables;
  private readonly wallets = new BoundedCache(WALLETS_CACHED_MAX, (account: AccountRow) =>
    addressText(this.tables.accountI, addressAt(account)),
  );
  private readonly names = new Map<
    number,
    { readonly info: MarketInfo | undefined; readonly names: TokenNames }
  >();
  private readonly lookup: MarketLookup;

  constructor(tables: Tables, lookup: MarketLookup, orderStatus: OrderStatusCase = 'lower') {
    this.orderStatus = orderStatus;
    this.tables = tables;
    this.lookup = lookup;
  }

  token(token: TokenRow): TokenNames {
    const { tables } = this;
    const market = tokenMarket(tables, token);
    const info = this.lookup(market);
    const known = this.names.get(token);
    if (known !== undefined && known.info === info) return known.names;
    const names = {
      market: wordsToHex(tables.marketI, conditionAt(market), ID_WORDS),
      asset_id: wordsToDecimal(tables.tokenI, tokenIdAt(token)),
      outcome: info?.outcomes[tokenOutcome(tables, token)] ?? '',
    };
    this.names.set(token, { info, names });
    return names;
  }

  wallet(account: AccountRow): string {
    return this.wallets.get(account)!;
  }
}

export function addressText(words: Int32Array, at: number): string {
  const hex = wordsToHex(words, at, ADDRESS_WORDS);
  return checksumAddress(Buffer.from(hex.slice(2), 'hex'));
}

export function apiKeyText(words: Int32Array, at = 0): string {
  const hex = wordsToHex(words, at, API_KEY_WORDS).slice(2);
  const part = (from: number, to: number): string => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`;
}
