/**
 * What existing clients want otherwise, one row each: the variable
 * that sets it alone, and its value in each profile. CLIENT_PROFILE sets all of them at once.
 * Configuration, CONFIGURATION.md and the tests of both profiles come from this table.
 * Rules: docs/protocol.md#client-profiles
 *
 * Thread: any; constants only.
 */

import {
  ADDRESS,
  HEADER_PREFIX,
  type Kind,
  OFF_UNLESS_SET,
  PRINTABLE,
  WALLET_FACTORY,
  words,
} from './kinds.ts';

export const PROFILES = ['spec', 'polymarket'] as const;
export type Profile = (typeof PROFILES)[number];

interface ProfileRow extends Readonly<Record<Profile, string>> {
  readonly variable: string;
  /** What a value may be. */
  readonly kind: Kind<string> | Kind<boolean>;
  /** One line for CONFIGURATION.md. */
  readonly changes: string;
}

/** By the name of the member of Config. */
export const PROFILE_TABLE = {
  credentialPrefix: {
    variable: 'CREDENTIAL_PREFIX',
    kind: HEADER_PREFIX,
    spec: 'SERVICE',
    polymarket: 'POLY',
    changes: 'first part of the credential headers',
  },
  domainName: {
    variable: 'EIP712_DOMAIN_NAME',
    kind: PRINTABLE,
    spec: 'CTF Exchange',
    polymarket: 'Polymarket CTF Exchange',
    changes: 'name of the domain that orders are signed under',
  },
  // The addresses that published clients sign for (docs/protocol.md#signing-domains).
  exchangeAddress: {
    variable: 'EXCHANGE_ADDRESS',
    kind: ADDRESS,
    spec: '0xB5592f7CccA122558D2201e190826276f3a661cb',
    polymarket: '0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E',
    changes: 'contract that orders of version 1 are signed for',
  },
  negRiskExchangeAddress: {
    variable: 'NEG_RISK_EXCHANGE_ADDRESS',
    kind: ADDRESS,
    spec: '0xef02d1Ea5B42432C4E99C2785d1a4020d2FB24F5',
    polymarket: '0xC5d563A36AE78145C45a50134d48A1215220f80a',
    changes: 'the same of neg-risk markets',
  },
  // Of the chain that those addresses are on: a contract, and the digest of the code that it deploys.
  proxyWalletFactory: {
    variable: 'PROXY_WALLET_FACTORY',
    kind: WALLET_FACTORY,
    spec: 'none',
    polymarket:
      '0xaB45c5A4B0c941a2F231C04C3f49182e1A254052:0xd21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b',
    changes:
      "contract and digest of the init code from which the wallet of a signer follows: an order of signature type 1 for another wallet is refused. `none`: a wallet is the signer's who is taken with it first",
  },
  safeWalletFactory: {
    variable: 'SAFE_WALLET_FACTORY',
    kind: WALLET_FACTORY,
    spec: 'none',
    polymarket:
      '0xaacFeEa03eb1561C4e67d661e40682Bd20E3541b:0x2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf',
    changes: 'the same of signature type 2',
  },
  orderVersion: {
    variable: 'ORDER_VERSION',
    kind: words(['1', '2', 'both']),
    spec: '1',
    polymarket: 'both',
    changes:
      'versions of orders that are taken; one of another version is `order_version_mismatch`',
  },
  resolveConditionId: {
    variable: 'RESOLVE_CONDITION_ID',
    kind: OFF_UNLESS_SET,
    spec: 'off',
    polymarket: 'on',
    changes: '`on`: an order may leave `conditionId` out, its token tells the market',
  },
  duplicateOrders: {
    variable: 'DUPLICATE_ORDERS',
    kind: words(['refuse', 'replay']),
    spec: 'refuse',
    polymarket: 'replay',
    changes:
      '`replay`: the same bytes sent again are answered with the result of the first time, not with `Duplicated`',
  },
  orderTexts: {
    variable: 'ORDER_TEXTS',
    kind: words(['spec', 'polymarket']),
    spec: 'spec',
    polymarket: 'polymarket',
    changes:
      '`errorMsg` of an unfilled FOK and of a post-only order that would match: the texts of orders/API.md, or those that bots of the other service look for',
  },
  orderStatus: {
    variable: 'ORDER_STATUS',
    kind: words(['lower', 'upper']),
    spec: 'lower',
    polymarket: 'upper',
    changes: 'letter case of `status` of own orders: `live`, or `LIVE`',
  },
  apiKeysAnswer: {
    variable: 'API_KEYS_ANSWER',
    kind: words(['array', 'object']),
    spec: 'array',
    polymarket: 'object',
    changes: '`GET /auth/api-keys`: `["..", ".."]`, or `{"apiKeys": ["..", ".."]}`',
  },
  revokedAnswer: {
    variable: 'REVOKED_ANSWER',
    kind: words(['object', 'text']),
    spec: 'object',
    polymarket: 'text',
    changes: '`DELETE /auth/api-key`: `{"revoked": true}`, or `"OK"`',
  },
  priceOfBuy: {
    variable: 'PRICE_OF_BUY',
    kind: words(['ask', 'bid']),
    spec: 'ask',
    polymarket: 'bid',
    changes:
      '`/price` and `/prices` of side BUY: the best ask, or the best bid; SELL the other one',
  },
  booksSide: {
    variable: 'BOOKS_SIDE',
    kind: words(['heed', 'ignore']),
    spec: 'heed',
    polymarket: 'ignore',
    changes: '`side` of an item of `POST /books`: that side alone is answered, or always both',
  },
  untraded: {
    variable: 'UNTRADED',
    kind: words(['refuse', 'answer']),
    spec: 'refuse',
    polymarket: 'answer',
    changes: 'midpoint and last price of a token that has none: a 404, or 0.5 and no side',
  },
  tradesAsset: {
    variable: 'TRADES_ASSET',
    kind: words(['outcome', 'token']),
    spec: 'outcome',
    polymarket: 'token',
    changes: '`asset` of rows of the data API: condition id and outcome, or the token id',
  },
  tradesFields: {
    variable: 'TRADES_FIELDS',
    kind: words(['refuse', 'ignore']),
    spec: 'refuse',
    polymarket: 'ignore',
    changes: 'unknown parameters of the data API: a 400, or named in `X-Ignored-Parameters`',
  },
  marketRoutes: {
    variable: 'MARKET_ROUTES',
    kind: words(['catalog', 'trading']),
    spec: 'catalog',
    polymarket: 'trading',
    changes:
      '`trading`: `/markets?next_cursor=` and `/markets/{condition id}` answer as under `/clob`, the sampling lists hold markets of that shape, but not under `/gamma`',
  },
  catalogObjects: {
    variable: 'CATALOG_OBJECTS',
    kind: words(['spec', 'clients']),
    spec: 'spec',
    polymarket: 'clients',
    changes:
      '`clients`: events of lists and of searches hold their `markets`, every market a `marketMakerAddress`',
  },
  dataTrades: {
    variable: 'DATA_TRADES',
    kind: words(['own', 'both']),
    spec: 'own',
    polymarket: 'both',
    changes:
      '`/data/trades`, which is own trades and, under the base path, `/trades` of the data API: the former, or the latter for who sends no credentials',
  },
} as const satisfies Readonly<Record<string, ProfileRow>>;

export type ProfileName = keyof typeof PROFILE_TABLE;

export const PROFILE_ROWS = Object.entries(PROFILE_TABLE) as readonly (readonly [
  ProfileName,
  ProfileRow,
])[];
