/**
 * Liquidity of the house (docs/protocol.md#liquidity-of-the-house): payments in to and out of the account of a market,
 * and what it has cost.
 *
 * Thread: I/O, while workers write.
 */
import { marketFlags, marketTokens } from '../../engine/reads.ts';
import { MarketFlag } from '../../engine/tables/codes.ts';
import { microText, parseMicroUp } from '../common/decimal.ts';
import type { Static } from '../common/schema.ts';
import { bytesToHex } from '../common/uint256.ts';
import type { Liquidity, LiquidityPayment } from '../liquidity/liquidity.ts';
import { type LiquidityNames, shownLiquidity } from '../liquidity/liquidity-row.ts';
import { marketByCondition } from '../market-data/find.ts';
import { isOperatorId } from '../wallet/request-id.ts';
import { checksumText } from './key-operations.ts';
import {
  BAD_ID,
  LEDGER_OFF,
  type LedgerOperationParts,
  newRequestId,
  refusalOf,
} from './ledger-operations.ts';
import { type OperationRefused, operation, refused, refusedField } from './operation-row.ts';
import { NoInput } from './operation-schemas.ts';
import {
  AddLiquidityInput,
  LiquidityAnswer,
  LiquidityMarkets,
  RemoveLiquidityInput,
} from './venue-schemas.ts';

export interface LiquidityOperationParts extends Pick<LedgerOperationParts, 'now' | 't'> {
  /** `undefined` without a ledger. */
  readonly liquidity: Liquidity | undefined;
}

interface ListParts extends LiquidityOperationParts, LiquidityNames {}

type Answer = Static<typeof LiquidityAnswer> | OperationRefused;

const NO_MARKET = refused('UNKNOWN_MARKET', 'it is not registered');
const ENDED = refused('MARKET_ENDED', 'it takes no orders again');
const NOT_BINARY = refusedField('condition', 'the house quotes markets of two outcomes alone');
const NO_ACCOUNT = refused('UNKNOWN_WALLET', 'the house never had liquidity in this market');

export const LIQUIDITY_OPERATIONS = [
  operation(
    'POST /admin/liquidity/add',
    {
      does: 'pays collateral in to the account from which the house quotes a market of two outcomes',
      input: AddLiquidityInput,
      answer: LiquidityAnswer,
    },
    (parts: ListParts) =>
      ({ amount, condition, id, price }) =>
        addLiquidity(parts, condition, amount, id, price),
  ),
  operation(
    'POST /admin/liquidity/remove',
    {
      does: 'pays out of that account, all that is free without `amount`: then the house quotes the market no more',
      input: RemoveLiquidityInput,
      answer: LiquidityAnswer,
    },
    ({ liquidity, now, t }: ListParts) =>
      async ({ amount, condition, id = newRequestId(now()) }): Promise<Answer> => {
        const market = marketByCondition(t, condition);
        if (liquidity === undefined) return LEDGER_OFF;
        if (!isOperatorId(id)) return BAD_ID;
        if (market === 0) return NO_MARKET;
        if (!liquidity.has(market)) return NO_ACCOUNT;
        const wanted = amount === undefined ? undefined : parseMicroUp(amount);
        return paid(condition, id, await liquidity.remove(market, wanted, id));
      },
  ),
  operation(
    'GET /admin/liquidity',
    {
      does: 'markets that the house quotes or has quoted: what was paid in and out, and what it has cost',
      input: NoInput,
      answer: LiquidityMarkets,
    },
    (parts: ListParts) => async () => {
      if (parts.liquidity === undefined) return LEDGER_OFF;
      const rows = await parts.liquidity.list();
      return { markets: rows.map((row) => shownLiquidity(parts.t, parts, row)) };
    },
  ),
];

export async function addLiquidity(
  { liquidity, now, t }: LiquidityOperationParts,
  condition: string,
  amount: string,
  id = newRequestId(now()),
  price?: string,
): Promise<Answer> {
  if (liquidity === undefined) return LEDGER_OFF;
  if (!isOperatorId(id)) return BAD_ID;
  const market = marketByCondition(t, condition);
  if (market === 0) return NO_MARKET;
  if (marketTokens(t, market) !== 2) return NOT_BINARY;
  if ((marketFlags(t, market) & MarketFlag.ended) !== 0) return ENDED;
  const chance = price === undefined ? undefined : Number(price);
  return paid(condition, id, await liquidity.add(market, parseMicroUp(amount), chance, id));
}

function paid(condition: string, id: string, payment: LiquidityPayment): Answer {
  const { amount, outcome, wallet } = payment;
  if (outcome.kind !== 'done') return refusalOf(outcome);
  return {
    id,
    condition,
    wallet: checksumText(bytesToHex(wallet, 0, wallet.length)),
    amount: microText(outcome.first?.amount ?? amount),
    repeated: outcome.isRepeated,
  };
}
