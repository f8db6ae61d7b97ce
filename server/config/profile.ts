/**
 * Table of what client profiles change: the variable of each setting, its value in each profile, and its meaning.
 * CLIENT_PROFILE sets all of them at once.
 * Rules: docs/protocol.md#client-profiles
 *
 * Pure; any thread.
 */
import { PUBLISHED_DOMAINS } from '../auth/exchange-domains.ts';
import { CANCEL_IDS_MAX, CANCEL_IDS_MIN } from '../common/cancel-ids.ts';
import {
  ADDRESS,
  CONTRACT_3,
  DEPOSIT_FACTORY,
  HEADER_PREFIX,
  type Kept,
  type Kind,
  OFF_UNLESS_SET,
  PRINTABLE,
  type Profile,
  type Setting,
  SIGNING,
  setting,
  WALLET_FACTORY,
  whole,
  words,
} from './kinds.ts';

interface Differing<T> extends Setting<T>, Readonly<Record<Profile, string>> {}

function differing<T>(variable: string, kind: Kind<T>, spec: string, polymarket: string) {
  const values = { spec, polymarket };
  const { describe } = setting(variable, kind, ({ profile }) => values[profile]);
  return {
    describe: (meaning: string, kept?: Kept): Differing<T> => ({
      ...describe(meaning, kept),
      ...values,
    }),
  };
}

function eitherOf<const A extends string, const B extends string>(
  variable: string,
  spec: A,
  polymarket: B,
) {
  return differing<A | B>(variable, words([spec, polymarket]), spec, polymarket);
}

export const PROFILE_TABLE = {
  credentialPrefix: differing('CREDENTIAL_PREFIX', HEADER_PREFIX, 'SERVICE', 'POLY').describe(
    'first part of the credential headers',
  ),
  domainName: differing(
    'EIP712_DOMAIN_NAME',
    PRINTABLE,
    PUBLISHED_DOMAINS.spec.name,
    PUBLISHED_DOMAINS.polymarket.name,
  ).describe('name of the domain that orders are signed under', SIGNING),
  // The addresses that published clients sign for (docs/protocol.md#signing-domains).
  exchangeAddress: differing(
    'EXCHANGE_ADDRESS',
    ADDRESS,
    PUBLISHED_DOMAINS.spec.contract,
    PUBLISHED_DOMAINS.polymarket.contract,
  ).describe('contract that orders of version 1 are signed for', SIGNING),
  negRiskExchangeAddress: differing(
    'NEG_RISK_EXCHANGE_ADDRESS',
    ADDRESS,
    PUBLISHED_DOMAINS.spec.negRiskContract,
    PUBLISHED_DOMAINS.polymarket.negRiskContract,
  ).describe('the same of neg-risk markets', SIGNING),
  exchangeAddress3: differing('EXCHANGE_ADDRESS_3', CONTRACT_3, 'none', 'published').describe(
    'contract that orders of positions are signed for, in version 3; `published`: that of `CHAIN_ID`; `none`: a position is a token like others',
    SIGNING,
  ),
  // Of the chain that those addresses are on: a contract, and the digest of the code that it deploys.
  proxyWalletFactory: differing(
    'PROXY_WALLET_FACTORY',
    WALLET_FACTORY,
    'none',
    '0xaB45c5A4B0c941a2F231C04C3f49182e1A254052:0xd21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b',
  ).describe(
    'contract and digest of the init code from which the [wallet](../protocol.md#wallet-binding) of a signer follows, for signature type 1',
    SIGNING,
  ),
  safeWalletFactory: differing(
    'SAFE_WALLET_FACTORY',
    WALLET_FACTORY,
    'none',
    '0xaacFeEa03eb1561C4e67d661e40682Bd20E3541b:0x2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf',
  ).describe('the same of signature type 2', SIGNING),
  beaconWalletFactory: differing(
    'BEACON_WALLET_FACTORY',
    DEPOSIT_FACTORY,
    'none',
    '0x00000000000Fb5C9ADea0298D729A0CB3823Cc07:0x7A18EDfe055488A3128f01F563e5B479D92ffc3a',
  ).describe(
    'contract and beacon from which a deposit wallet follows, for signature type 3; with `none` here and below that type is refused',
    SIGNING,
  ),
  uupsWalletFactory: differing(
    'UUPS_WALLET_FACTORY',
    DEPOSIT_FACTORY,
    'none',
    '0x00000000000Fb5C9ADea0298D729A0CB3823Cc07:0x58CA52ebe0DadfdF531Cde7062e76746de4Db1eB',
  ).describe('contract and implementation of deposit wallets of the older kind', SIGNING),
  orderVersion: differing('ORDER_VERSION', words(['1', '2', 'both']), '1', 'both').describe(
    'versions of orders that are taken; one of another version is `order_version_mismatch`',
    SIGNING,
  ),
  resolveConditionId: differing('RESOLVE_CONDITION_ID', OFF_UNLESS_SET, 'off', 'on').describe(
    '`on`: an order may leave `conditionId` out, its token tells the market',
  ),
  duplicateOrders: eitherOf('DUPLICATE_ORDERS', 'refuse', 'replay').describe(
    '`replay`: the same bytes sent again are answered with the result of the first time, not with `Duplicated`',
  ),
  orderTexts: eitherOf('ORDER_TEXTS', 'spec', 'polymarket').describe(
    '`errorMsg` of an unfilled FOK, of a post-only order that would match, of a session key and of an `expiration` that is past or absent: the first of the [texts](api.md#errors), or those that bots of the other service look for',
  ),
  tradeIds: eitherOf('TRADE_IDS', 'omit', 'list').describe(
    '`list`: the result of an order with an immediate fill has [`tradeIDs`](../protocol.md#order-results)',
  ),
  maxCancelIds: differing(
    'MAX_CANCEL_IDS',
    whole(CANCEL_IDS_MIN, CANCEL_IDS_MAX),
    String(CANCEL_IDS_MIN),
    String(CANCEL_IDS_MAX),
  ).describe('order ids of one `DELETE /orders`'),
  heartbeatError: eitherOf('HEARTBEAT_ERROR', 'error', 'error_msg').describe(
    '`error_msg`: a refused `heartbeat_id` is answered with that member too, as clients read it',
  ),
  orderStatus: eitherOf('ORDER_STATUS', 'lower', 'upper').describe(
    'letter case of `status` of own orders: `live`, or `LIVE`',
  ),
  apiKeysAnswer: eitherOf('API_KEYS_ANSWER', 'array', 'object').describe(
    '`GET /auth/api-keys`: `["..", ".."]`, or `{"apiKeys": ["..", ".."]}`',
  ),
  revokedAnswer: eitherOf('REVOKED_ANSWER', 'object', 'text').describe(
    '`DELETE /auth/api-key`: `{"revoked": true}`, or `"OK"`',
  ),
  priceOfBuy: eitherOf('PRICE_OF_BUY', 'ask', 'bid').describe(
    '`/price` and `/prices` of side BUY: the best ask, or the best bid; SELL the other one',
  ),
  booksSide: eitherOf('BOOKS_SIDE', 'heed', 'ignore').describe(
    '`side` of an item of `POST /books`: that side alone is answered, or always both',
  ),
  untraded: eitherOf('UNTRADED', 'refuse', 'answer').describe(
    'midpoint and last price of a token that has none: a 404, or 0.5 and no side',
  ),
  tradesAsset: eitherOf('TRADES_ASSET', 'outcome', 'token').describe(
    '`asset` of rows of the data API: condition id and outcome, or the token id',
  ),
  tradesFields: eitherOf('TRADES_FIELDS', 'refuse', 'ignore').describe(
    'unknown parameters of the data API: a 400, or named in `X-Ignored-Parameters`',
  ),
  marketRoutes: eitherOf('MARKET_ROUTES', 'catalog', 'trading').describe(
    '`trading`: `/markets?next_cursor=` and `/markets/{condition id}` answer as under `/clob`, the sampling lists hold markets of that shape, but not under `/gamma`',
  ),
  catalogObjects: eitherOf('CATALOG_OBJECTS', 'spec', 'clients').describe(
    '`clients`: events of lists and of searches hold their `markets`, every market a `version`, a `marketMakerAddress`, and the fees and facts of a listing that the catalog has',
  ),
  takerDelays: eitherOf('TAKER_DELAYS', 'operator', 'catalog').describe(
    '[taker delays](../protocol.md#taker-delay) of markets: those that operators set, or also `secondsDelay` of the catalog',
  ),
  catalogErrors: eitherOf('CATALOG_ERRORS', 'literal', 'rule').describe(
    '`error` of a 400 of the catalog: `q is required`, with the rule in `detail`, or the rule',
  ),
  relayer: differing('RELAYER', OFF_UNLESS_SET, 'off', 'on').describe(
    '`on`: routes of a [relayer](../protocol.md#relayed-batches), which takes signed batches of wallets',
  ),
  feesFromCatalog: differing('FEES_FROM_CATALOG', OFF_UNLESS_SET, 'off', 'on').describe(
    '`on`: the `feeSchedule` of a market of the catalog is its [schedule](../protocol.md#fees), unless an operator has set one',
  ),
  dataTrades: eitherOf('DATA_TRADES', 'own', 'both').describe(
    '`/data/trades`, which is own trades and, under the base path, `/trades` of the data API: the former, or the latter for who sends no credentials',
  ),
};

export type ProfileName = keyof typeof PROFILE_TABLE;

/** @internal Tests go through the rows. */
export const PROFILE_ROWS = Object.entries(PROFILE_TABLE) as readonly (readonly [
  ProfileName,
  Differing<unknown>,
])[];
