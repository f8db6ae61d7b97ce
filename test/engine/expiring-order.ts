/** Commands of a market with one order that expires. */
import {
  type CommandBuffer,
  encodeMarket,
  encodeOrder,
  OrderType,
  Side,
} from '../../engine/commands.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import type { MicroCollateral, MicroShares, TokenRow } from '../../engine/tables/units.ts';
import { addressWords, idWords } from './engine-driver.ts';

/** Encodes a market and an order in it that expires at this second. Returns the word of each. */
export function encodeExpiring(out: CommandBuffer, expiration: number): readonly number[] {
  const fields = {
    flags: MarketFlag.tradable,
    ticksPerUnit: 100,
    baseFeeBps: 0,
    minSize: 1 as MicroShares,
  } as const;
  const market = encodeMarket(out, fields, idWords(1), [idWords(2), idWords(3)]);
  const order = encodeOrder(out, {
    token: 1 as TokenRow,
    side: Side.buy,
    type: OrderType.GTD,
    postOnly: false,
    shares: 100 as MicroShares,
    collateral: 50 as MicroCollateral,
    expiration,
    feeRateBps: 0,
    signatureType: 0,
    precheck: 0,
    id: idWords(9),
    maker: addressWords(1),
    signer: addressWords(1),
    apiKey: new Int32Array(4),
  });
  return [market, order];
}
