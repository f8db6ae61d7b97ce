/** Refusals of the node and of wallets, failures and ends of orders in the words of a person. */
import { ApiError, NoAnswerError, WrongChainError } from '../../../client/client.ts';
import type { RefusalCode } from '../../../client/types.ts';

interface Refused {
  readonly code: RefusalCode | undefined;
  readonly reason: string;
}

/** Refusals that only another program than this page gets. */
const NOT_MADE_HERE = 'The venue does not understand this order: load the page again.';
const RELOAD = 'The venue does not know this page any more: load it again.';
const CLOCK = 'The venue does not accept the signature. Is the clock of this machine right?';
const GONE = 'The venue does not have this market any more.';

const WORDS: Readonly<Partial<Record<RefusalCode, string>>> = {
  ADDRESS_BANNED: 'The operator has banned this wallet.',
  AGENT_CASH: 'The agent may not spend as much on this day.',
  AGENT_ENDED: 'The agent may not trade for this wallet any more.',
  AGENT_MARKET: 'The agent may not trade in this market.',
  AGENT_ORDER_SIZE: 'The order is larger than the agent may place.',
  AMOUNT_NOT_POSITIVE: 'Enter an amount above zero.',
  DUPLICATE_ORDER: 'This order was already sent.',
  ENGINE_BUSY: 'The venue is busy. Try again in a moment.',
  EXPIRATION_INVALID: 'Only an order with an end can have a time at which it ends.',
  EXPIRATION_PAST: 'The end of the order is already past.',
  EXPIRATION_REQUIRED: 'Say how long the order stays.',
  EXPOSURE_TOO_HIGH:
    'This is more than one person may have at stake here. Sell or cancel something first.',
  FAK_NOT_FILLED: 'Nobody trades at this price now. Offer it as a limit order instead.',
  FEE_BELOW_BASE: 'The fee of this market has changed. Try again.',
  FEE_NEGATIVE: NOT_MADE_HERE,
  FEE_TOO_HIGH: NOT_MADE_HERE,
  FOK_NOT_FILLED: 'The book has not enough for all of it. Take a smaller size, or a limit order.',
  INTERNAL_ERROR: 'The venue has made a mistake. Look into your portfolio before you try again.',
  INVALID_KEY: RELOAD,
  INVALID_L1: CLOCK,
  INVALID_L2: CLOCK,
  INVALID_ORDER_PAYLOAD: NOT_MADE_HERE,
  INVITATION_REDEEMED: 'This invitation was already used. Ask for another one.',
  INVITATION_REQUIRED: 'You need an invitation.',
  INVITATION_UNKNOWN: 'This invitation is not known here, or was withdrawn. Is the code complete?',
  INVALID_SIGNATURE:
    'The signature of the order is wrong: is the wallet of this page the right one?',
  JOURNAL_UNAVAILABLE: 'The venue cannot store orders at the moment. Try again later.',
  MARKET_CLOSED: 'The operator has closed this market.',
  MARKET_ENDED: 'Trading in this market has ended.',
  MARKET_HALTED: 'The operator has paused this market.',
  MARKET_NOT_READY: 'This market does not take orders yet.',
  MARKET_PROPOSED: 'A result of this market is proposed: it takes no orders.',
  MARKET_RESOLVED: 'This market has its result.',
  NOT_ENOUGH_BALANCE: 'You do not have enough for this order.',
  NOT_LEADING: 'The venue is moving to another machine. Try again in a moment.',
  NO_ROOM: 'The book is full. Try again later.',
  ORDER_VERSION_MISMATCH: RELOAD,
  OUTCOME_UNKNOWN: 'It is not known whether the order was taken. Look into your portfolio.',
  OWNER_MISMATCH: 'The order is of another wallet than the one of this page.',
  POST_ONLY_CROSSES: 'This offer would trade at once. Choose a price further away.',
  POST_ONLY_MODE: 'The venue takes only offers that rest at the moment.',
  POST_ONLY_TYPE: 'A market order never rests, so it cannot be only an offer.',
  PROFILES_FULL: 'The venue has no room for another name.',
  PROFILE_NAME_SET: 'Your wallet has another name already: go on without a name, or with that one.',
  PROFILE_NAME_TAKEN: 'Somebody else has this name. Choose another one.',
  SEASON_ENDING: 'The season is ending. New orders are taken again when it is over.',
  SELF_TRADE: 'This order would trade with an offer of your own.',
  SHUTTING_DOWN: 'The venue is restarting. Try again in a moment.',
  SIZE_ABOVE_MAXIMUM: 'The order is too large.',
  SIZE_BELOW_MINIMUM: 'The order is below the smallest size of this market.',
  TAKER_NOT_PUBLIC: NOT_MADE_HERE,
  TICK_SIZE: 'The price is not on a step of this market.',
  TOKEN_OF_OTHER_CONDITION: GONE,
  TOO_MANY_DELAYED_ORDERS: 'Too many of your orders wait. Try again in a moment.',
  TOO_MANY_IN_FLIGHT: 'The venue is busy. Try again in a moment.',
  TOO_MANY_OPEN_ORDERS: 'You have too many open orders. Cancel some of them.',
  TOO_MANY_REQUESTS: 'Too many requests. Wait a moment.',
  TRADING_DISABLED: 'The venue takes no orders at the moment.',
  TRADING_PAUSED: 'The venue takes no orders at the moment, only cancels.',
  UNKNOWN_API_KEY: RELOAD,
  UNKNOWN_BOOK: GONE,
  UNKNOWN_CONDITION: GONE,
  UNKNOWN_TOKEN: GONE,
  WALLET_INVITED: 'The wallet of this browser has used another invitation.',
  VENUE_RESTARTING: 'The venue is restarting. Try again in a moment.',
};

/** @returns the sentence for a code, or the node's own text */
export function personText({ code, reason }: Refused): string {
  const words = code === undefined ? undefined : WORDS[code];
  return words ?? (reason === '' ? 'The order was not taken.' : reason);
}

/** Errors of wallets of the browser (EIP-1193, EIP-3085, EIP-1474). */
const WALLET_WORDS: Readonly<Record<string, string>> = {
  4001: 'You refused it in your wallet. Nothing was sent.',
  4100: 'Your wallet does not allow this. Unlock it, and connect it again.',
  4900: 'Your wallet has no connection.',
  4901: 'Your wallet has no connection to this chain.',
  4902: 'Your wallet does not know this chain. Add it in the wallet first.',
  '-32002': 'Your wallet waits for an answer. Open it; it may be locked.',
};

const CHAINS: Readonly<Record<number, string>> = {
  1: 'Ethereum, chain 1',
  137: 'Polygon, chain 137',
  80002: 'Polygon Amoy, chain 80002',
};

export function chainName(chainId: number): string {
  return CHAINS[chainId] ?? `chain ${chainId}`;
}

export function chainText(needed: number, actual: number): string {
  return `Your wallet is on ${chainName(actual)}. This venue needs ${chainName(needed)}.`;
}

/** @returns undefined where it is no error of a wallet */
function walletText(error: unknown): string | undefined {
  if (error instanceof WrongChainError) return chainText(error.needed, error.actual);
  return WALLET_WORDS[String((error as { readonly code?: unknown } | null)?.code)];
}

/** Sentence for a failed call, of the node or of a wallet. */
export function textOf(error: unknown): string {
  const words = walletText(error);
  if (words !== undefined) return words;
  if (error instanceof ApiError) return personText(error);
  if (error instanceof NoAnswerError) {
    const order = error.mayBeDone
      ? ' Look into your portfolio before you send an order again.'
      : '';
    return `The venue does not answer. Is this machine online?${order}`;
  }
  return String((error as Partial<Error> | null)?.message ?? error);
}

/** Ends of orders that nobody here asked for, by the reason in a message of the stream. */
const ENDS: Readonly<Record<string, string>> = {
  expired: 'its time is over',
  marketEnded: 'the market takes no orders any more',
  endReached: 'the market has reached its end',
  resolved: 'the market has its result',
  tickChange: 'the market has larger steps of prices now',
  selfTrade: 'it met an order of your own',
  unmatched: 'nobody traded at its price',
  fakRemainder: 'nobody traded at its price',
};

export function endText(reason: string | undefined): string {
  return ENDS[reason ?? ''] ?? 'the venue has ended it';
}
