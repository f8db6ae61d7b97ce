/**
 * The public texts of the trading API: what each refusal of the engine is called (exact
 * text), and the bodies of answers that fail a request whole. The table of orders/API.md is held
 * equal to this one by a test.
 * Rules: docs/protocol.md#order-of-checks
 */
import { Rule, type RuleCode } from '../../engine/orders/reject-reasons.ts';

export const RULE_TEXTS: Readonly<Record<Exclude<RuleCode, 0>, string>> = {
  [Rule.ownerMismatch]: 'owner_address_mismatch',
  [Rule.postOnlyType]: 'postOnly requires GTC or GTD',
  [Rule.conditionUnknown]: 'condition is not registered',
  [Rule.tokenUnknown]: 'token is not registered',
  [Rule.tokenOfOtherCondition]: 'tokenId not found for conditionId lookup',
  [Rule.takerNotPublic]: 'taker must be the zero address',
  [Rule.duplicate]:
    "order is invalid. Duplicated. Same order has already been placed, can't be placed again",
  [Rule.marketNotReady]: 'the market is not yet ready to process new orders',
  [Rule.amountsNotPositive]: 'makerAmount and takerAmount must be positive',
  [Rule.expirationPast]: 'expiration must be in the future',
  [Rule.expirationRequired]: 'expiration is required',
  [Rule.expirationInvalid]: 'invalid expiration',
  [Rule.feeNegative]: 'feeRateBps must be non-negative',
  [Rule.feeBelowBase]: 'feeRateBps must be >= exchangeBaseFeeRate',
  [Rule.feeTooHigh]: 'feeRateBps must be <= 1000',
  [Rule.sizeAboveMaximum]: 'order is invalid. Size higher than the maximum',
  [Rule.tick]: 'order is invalid. Price breaks minimum tick size rules',
  [Rule.sizeBelowMinimum]: 'order is invalid. Size lower than the minimum',
  [Rule.signature]: 'invalid order signature',
  [Rule.binding]: 'invalid order signature',
  [Rule.tooManyOpen]: 'too many open orders',
  [Rule.tooManyWallets]: 'could not insert order',
  [Rule.tableFull]: 'could not insert order',
  [Rule.postOnlyCrossesAsk]: 'postOnly would cross the best ask',
  [Rule.postOnlyCrossesBid]: 'postOnly would cross the best bid',
  [Rule.fokUnfilled]: "order couldn't be fully filled, FOK orders are fully filled/killed",
  [Rule.fakUnfilled]:
    'no orders found to match with FAK order. FAK orders are partially filled or killed if no ' +
    'match is found.',
  [Rule.selfTrade]: 'self trade prevented',
  [Rule.orderNotFound]: "order can't be found - already canceled or matched",
  [Rule.marketRefused]: 'market is already registered or cannot be changed so',
};

/** The texts of the other service that its bots look for, where they differ. */
const BOT_TEXTS: Partial<typeof RULE_TEXTS> = {
  [Rule.postOnlyCrossesAsk]: 'invalid post-only order: order crosses book',
  [Rule.postOnlyCrossesBid]: 'invalid post-only order: order crosses book',
  [Rule.fokUnfilled]: "order couldn't be fully filled. FOK orders are fully filled or killed.",
};

/** Whose texts refusals of orders carry (ORDER_TEXTS). */
export type OrderTexts = 'spec' | 'polymarket';

export function ruleTexts(wanted: OrderTexts): typeof RULE_TEXTS {
  return wanted === 'spec' ? RULE_TEXTS : { ...RULE_TEXTS, ...BOT_TEXTS };
}

export const ENGINE_BUSY = '{"error":"engine busy"}';
export const JOURNAL_UNAVAILABLE = '{"error":"journal unavailable"}';
export const INTERNAL_ERROR = '{"error":"internal_error"}';
export const NOT_ALLOWED_ADDRESS = '{"error":"unauthorized: ip_not_allowlisted"}';

/** Body of an error with an optional explanation for the person who has to mend it. */
export function errorBody(error: string, detail = ''): string {
  return JSON.stringify(detail === '' ? { error } : { error, detail });
}
