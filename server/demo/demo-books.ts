/**
 * Resting orders and a few trades for the demo catalog, so that the first reads of a new node show
 * real books. The wallets are made up for it: nobody holds their keys. The orders are ordinary
 * commands and are logged like any other.
 *
 * Pure; thread: the I/O thread.
 */
import {
  type CommandBuffer,
  encodeFunds,
  encodeOrder,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { ADDRESS_WORDS, API_KEY_WORDS, ID_WORDS } from '../../engine/tables/codes.ts';
import {
  type MarketRow,
  MICRO,
  type MicroCollateral,
  type MicroShares,
  type TokenRow,
} from '../../engine/tables/units.ts';
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { orderDigest, type SignedFields } from '../auth/eip712.ts';
import type { Separators } from '../auth/exchange-domains.ts';
import { keccak256 } from '../auth/keccak.ts';
import { bytesToWords } from '../common/uint256.ts';
import { EventChances } from './demo-chances.ts';
import { demoFunds } from './demo-funds.ts';

const WALLETS = 6;
const LEVELS = 5;
const ZERO_ADDRESS = new Uint8Array(20);

type DemoOrder = readonly [
  outcome: number,
  side: number,
  type: number,
  ticks: number,
  shares: number,
];

const wallets = Array.from({ length: WALLETS }, (_, i) =>
  keccak256(Buffer.from(`demo wallet ${i}`)).slice(12),
);

/** Appends what the wallets of the demo's orders need with a ledger; the markets are the first ones. */
export function appendDemoFunds(markets: readonly CatalogMarket[], out: CommandBuffer): void {
  const rows = markets.map((_, i) => (i + 1) as MarketRow);
  for (const wallet of wallets) {
    for (const [kind, fields] of demoFunds(wallet, rows)) encodeFunds(out, kind, fields);
  }
}

/** Appends the demo's orders; the markets' tokens have slots from `firstToken` on, in order. */
export function appendDemoOrders(
  markets: readonly CatalogMarket[],
  firstToken: TokenRow,
  separators: Separators,
  out: CommandBuffer,
): void {
  const events = EventChances.all(markets);
  const chances = new Map(
    events.flatMap((event) => {
      const values = event.chances();
      return event.books.map(({ market, outcome }, i) => [market.tokenIds[outcome]!, values[i]!]);
    }),
  );
  let token: number = firstToken;
  let salt = 1;
  for (const [m, market] of markets.entries()) {
    const separator = market.negRisk ? separators.negRiskSeparator : separators.separator;
    for (const order of demoOrders(market, m, chances)) {
      const [outcome, side, type, ticks, shares] = order;
      const wallet = wallets[salt % WALLETS]!;
      const digest = new Uint8Array(32);
      orderDigest(separator, signedFields(market, order, wallet, salt), digest, 0);
      salt += 1;
      encodeOrder(out, {
        token: (token + outcome) as TokenRow,
        side,
        type,
        postOnly: false,
        shares: (shares * MICRO) as MicroShares,
        collateral: ((shares * MICRO * ticks) / market.ticksPerUnit) as MicroCollateral,
        expiration: 0,
        feeRateBps: 0,
        signatureType: 0,
        precheck: 0,
        id: bytesToWords(digest, new Int32Array(ID_WORDS)),
        maker: bytesToWords(wallet, new Int32Array(ADDRESS_WORDS)),
        signer: bytesToWords(wallet, new Int32Array(ADDRESS_WORDS)),
        apiKey: new Int32Array(API_KEY_WORDS),
      });
    }
    token += market.tokenIds.length;
  }
}

/** Signed fields of an order of whole shares, which cost whole micro-units on any of the grids. */
function signedFields(
  { ticksPerUnit, tokenIds }: CatalogMarket,
  [outcome, side, , ticks, shares]: DemoOrder,
  wallet: Uint8Array,
  salt: number,
): SignedFields {
  const isBuy = side === Side.buy;
  const collateral = String((shares * MICRO * ticks) / ticksPerUnit);
  const amount = String(shares * MICRO);
  return {
    salt: String(salt),
    maker: wallet,
    signer: wallet,
    taker: ZERO_ADDRESS,
    tokenId: tokenIds[outcome]!,
    makerAmount: isBuy ? collateral : amount,
    takerAmount: isBuy ? amount : collateral,
    expiration: '0',
    nonce: '0',
    feeRateBps: '0',
    side: isBuy ? 0 : 1,
    signatureType: 0,
  };
}

function* demoOrders(
  { ticksPerUnit: grid, tokenIds }: CatalogMarket,
  m: number,
  chances: ReadonlyMap<string, number>,
): Generator<DemoOrder> {
  const { buy, sell } = Side;
  const { FOK, GTC } = OrderType;
  const isPair = tokenIds.length === 2;
  const books = isPair ? 1 : tokenIds.length;
  for (let book = 0; book < books; book++) {
    const mid = Math.max(3, Math.round(grid * chances.get(tokenIds[book]!)!));
    const step = Math.max(1, Math.floor(grid / 100));
    for (let level = 1; level <= LEVELS; level++) {
      const low = mid - level * step;
      const high = mid + level * step;
      if (low >= 1) yield [book, buy, GTC, low, 40 * level + m];
      // Half of the offers of a pair come as bids for its other outcome.
      if (high >= grid) continue;
      if (isPair && level % 2 === 0) yield [1, buy, GTC, grid - high, 30 * level + m];
      else yield [book, sell, GTC, high, 30 * level + m];
    }
    yield [book, buy, FOK, Math.min(grid - 1, mid + step), 10];
    yield [book, sell, FOK, Math.max(1, mid - step), 12];
  }
}
