/** Orders that are refused one by one, each with the text of its refusal. */
import type { CatalogMarket } from '../../storage/catalog/catalog-file.ts';
import { NEG_RISK, NORMAL, seconds, type Terms } from './traders.ts';

export const FOK_KILLED = "order couldn't be fully filled, FOK orders are fully filled/killed";

interface Markets {
  readonly cup: CatalogMarket;
  readonly neg: CatalogMarket;
  readonly closed: CatalogMarket;
}

const other = `0x${'9'.repeat(40)}`;

/**
 * Each refusal of a single order, in the order of the checks (docs/protocol.md#order-of-checks), as a change of ten
 * shares bought at 40 in a market with 50 shares each at 30 and 60.
 */
export function refusedOrders({
  closed,
  cup,
  neg,
}: Markets): readonly (readonly [string, Partial<Terms>])[] {
  const past = seconds(-5);
  return [
    ['owner_address_mismatch', { owner: '550e8400-e29b-41d4-a716-446655440000' }],
    ['owner_address_mismatch', { signed: { signer: other, maker: other } }],
    ['postOnly requires GTC or GTD', { type: 'FOK', postOnly: true }],
    ['condition is not registered', { sent: { conditionId: `0x${'1'.repeat(64)}` } }],
    ['token is not registered', { signed: { tokenId: '12345' } }],
    ['tokenId not found for conditionId lookup', { sent: { conditionId: cup.conditionId } }],
    ['the market is not yet ready to process new orders', { market: closed }],
    ['makerAmount and takerAmount must be positive', { signed: { makerAmount: '0' } }],
    ['makerAmount and takerAmount must be positive', { sent: { takerAmount: '-10000000' } }],
    ['expiration is required', { type: 'GTD' }],
    ['expiration must be in the future', { type: 'GTD', signed: { expiration: past } }],
    ['invalid expiration', { signed: { expiration: seconds(100) } }],
    ['feeRateBps must be non-negative', { sent: { feeRateBps: '-1' } }],
    ['feeRateBps must be <= 1000', { signed: { feeRateBps: '1001' } }],
    ['taker must be the zero address', { signed: { taker: other } }],
    [
      'order is invalid. Size higher than the maximum',
      { signed: { takerAmount: String(2n ** 53n), makerAmount: String(2n ** 52n) } },
    ],
    [
      'order is invalid. Price breaks minimum tick size rules',
      { signed: { makerAmount: '4010000' } },
    ],
    ['order is invalid. Price breaks minimum tick size rules', { ticks: 100 }],
    ['order is invalid. Size lower than the minimum', { shares: 4.99 }],
    ['invalid order signature', { signed: { maker: other } }],
    ['invalid order signature', { signed: { signatureType: 3 } }],
    ['invalid order signature', { domain: NEG_RISK }],
    ['invalid order signature', { market: neg, domain: NORMAL }],
    ['postOnly would cross the best ask', { postOnly: true, ticks: 60 }],
    ['postOnly would cross the best bid', { side: 'SELL', postOnly: true, ticks: 30 }],
    [FOK_KILLED, { type: 'FOK', ticks: 60, shares: 51 }],
    [
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      { type: 'FAK', ticks: 45 },
    ],
  ];
}
