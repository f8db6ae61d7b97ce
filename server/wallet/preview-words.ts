/**
 * Refusals that a preview can foresee, in the words of a person: one sentence or two, with the numbers of the order.
 *
 * Thread: any; pure. Not here: codes and texts for programs (common/refusals.ts).
 */
import type { RefusalCode } from '../common/refusals.ts';

/** Decimal texts. */
export interface WordFacts {
  readonly isBuy: boolean;
  readonly size: string;
  readonly filled: string;
  readonly least: string;
  readonly tick: string;
  readonly needed: string;
  readonly free: string;
  readonly reserved: string;
  /** Cash that the agent may still spend on the day. */
  readonly left: string;
}

type Words = string | ((facts: WordFacts) => string);

const NO_TRADING = 'Nothing can be bought or sold in it';

const WORDS = {
  ADDRESS_BANNED: 'The operator has banned this wallet.',
  POST_ONLY_TYPE: 'A market order never waits, so it cannot be post-only.',
  SEASON_ENDING: 'The season is ending. Orders are taken again when it is over.',
  MARKET_NOT_READY: 'This market takes no orders now.',
  MARKET_RESOLVED: `This market has resolved. ${NO_TRADING} any more.`,
  MARKET_PROPOSED: `A result of this market is proposed. ${NO_TRADING} meanwhile.`,
  MARKET_ENDED: `This market has ended and waits for its result. ${NO_TRADING} any more.`,
  MARKET_CLOSED: `The operator has closed this market. ${NO_TRADING} any more.`,
  MARKET_HALTED: `This market is halted. ${NO_TRADING} until it goes on; open orders stay.`,
  AMOUNT_NOT_POSITIVE: 'The amount is too small to trade anything.',
  EXPIRATION_PAST: 'The time at which the order ends has passed. Choose a later one.',
  SIZE_ABOVE_MAXIMUM: 'The order is larger than any that this exchange takes.',
  TICK_SIZE: ({ tick }) => `Prices here are multiples of ${tick}, above 0 and below 1.`,
  SIZE_BELOW_MINIMUM: ({ least, size }) =>
    `The smallest order here is ${least} shares. This one has ${size}.`,
  NOT_ENOUGH_BALANCE: ({ free, isBuy, needed, reserved }) => {
    const unit = isBuy ? '' : ' shares';
    const held = reserved === '0' ? '' : ` Your open orders hold ${reserved}.`;
    return `You need ${needed}${unit} and have ${free} free.${held}`;
  },
  TOO_MANY_OPEN_ORDERS: 'You have as many open orders as you may have. Cancel some of them first.',
  EXPOSURE_TOO_HIGH:
    'This is more than one person may have at stake here. Sell or cancel something first, or buy less.',
  AGENT_ENDED:
    'This agent may not trade for the wallet any more. The owner has to authorise it again.',
  AGENT_MARKET: 'The owner of the wallet has not authorised this agent for this market.',
  AGENT_ORDER_SIZE: 'This order is larger than the owner of the wallet allows this agent.',
  AGENT_CASH: ({ left, needed }) =>
    `This order may cost ${needed}, and the agent may spend ${left} more on this day (UTC).`,
  TOO_MANY_DELAYED_ORDERS:
    'Too many of your orders wait for the delay of their markets. Cancel one, or try again soon.',
  NO_ROOM: 'The exchange has no room for this order now.',
  POST_ONLY_CROSSES: ({ isBuy }) =>
    `This order would trade at once. Choose a ${isBuy ? 'lower' : 'higher'} price, or let it trade.`,
  FOK_NOT_FILLED: ({ filled, isBuy, size }) =>
    `Only ${filled} of ${size} shares can be ${isBuy ? 'bought' : 'sold'} at once at this price, and you asked for all or nothing.`,
  FAK_NOT_FILLED: ({ isBuy }) =>
    `Nobody ${isBuy ? 'sells' : 'buys'} at this price now. You can leave an offer that waits.`,
  SELF_TRADE: 'This order would trade with one of your own. Cancel that one first.',
} as const satisfies Partial<Record<RefusalCode, Words>>;

/** @throws where a preview has no words for a code: its reasons and this table belong together */
export function wordsOf(code: RefusalCode, facts: WordFacts): string {
  const words = (WORDS as Partial<Record<RefusalCode, Words>>)[code];
  if (words === undefined) throw new Error(`no words for ${code}`);
  return typeof words === 'string' ? words : words(facts);
}
