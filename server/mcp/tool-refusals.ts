/**
 * Refusals of tools, and for each refusal what a model does next. Data.
 *
 * Thread: any.
 */
import { ApiError, NoAnswerError } from '../../client/errors.ts';
import { refusalCode } from '../../client/refusals.ts';
import { REFUSALS, type RefusalCode } from '../common/refusals.ts';

interface ToolRefusalRow {
  readonly text: string;
  readonly next: string;
}

/** Refusals that the tool server gives itself, by code. */
export const TOOL_REFUSALS = {
  INVALID_ARGUMENT: {
    text: 'an argument breaks its rule',
    next: 'Correct the argument that detail names, and call the tool again.',
  },
  INVALID_NEXT: {
    text: 'next is no position of this list',
    next: 'Call the tool without next, or with the next of its last answer and the same arguments.',
  },
  UNKNOWN_OUTCOME: {
    text: 'the market has no such outcome',
    next: 'Call the tool again with an outcome that detail lists.',
  },
  KEY_NEEDED: {
    text: 'this tool needs an API key',
    next: 'Tell the user: cli mcp takes a key from PRIVATE_KEY or WALLET_FILE, POST /mcp takes the headers of level 2.',
  },
  READ_ONLY: {
    text: 'the key may only read',
    next: 'Tell the user that placing and cancelling need a key that may trade.',
  },
  SIGNED_ORDER_NEEDED: {
    text: 'signed_order is missing',
    next: 'Sign the order of the preview with the key of the wallet, and send the body of POST /order as signed_order.',
  },
  PREVIEW_NEEDED: {
    text: 'no preview is named',
    next: 'Call preview, show its result to the user, and call the tool again with its preview_id.',
  },
  PREVIEW_UNKNOWN: {
    text: 'this key has no such preview of the last minute',
    next: 'Call preview again, and use its preview_id within a minute. Each one places one order.',
  },
  PREVIEW_DIFFERS: {
    text: 'the order differs from its preview',
    next: 'Send the terms of the preview, or preview the new terms first.',
  },
  NO_ORDER: {
    text: 'the terms make no order',
    next: 'Call preview with a price, or with another amount or size.',
  },
  IDEMPOTENCY_KEY_USED: {
    text: 'the idempotency_key was used with other arguments',
    next: 'Use a new idempotency_key for another order.',
  },
  RESULT_UNKNOWN: {
    text: 'no answer came: the request may have been carried out',
    next: 'Call the tool again with the same arguments and the same idempotency_key or preview_id: nothing is placed twice. Or call open_orders.',
  },
} as const satisfies Readonly<Record<string, ToolRefusalRow>>;

export type ToolRefusalCode = keyof typeof TOOL_REFUSALS;

const OTHER_MARKET =
  'Call market to see whether it takes orders, or choose another one with search.';
const FIND_MARKET = 'Call search, then event, and use a market or event that they name.';
const SMALLER =
  'Call balance. Use a smaller amount or size, or cancel an open order, which frees what it reserves.';
const WAIT = 'Wait some seconds, then call the tool again with the same arguments.';
const SAME_KEY =
  'Tell the user: the key of this tool server is refused, and a new one may be needed.';

/** Next steps after refusals of the node, by code. */
const NEXT_STEPS: Readonly<Partial<Record<RefusalCode, string>>> = {
  NOT_ENOUGH_BALANCE: SMALLER,
  EXPOSURE_TOO_HIGH: SMALLER,
  TOO_MANY_OPEN_ORDERS: 'Call open_orders, and cancel those that are not needed.',
  TICK_SIZE: 'Call market, and use a price that is a multiple of its tick.',
  SIZE_BELOW_MINIMUM: 'Call market, and use at least its min_size.',
  MARKET_NOT_READY: OTHER_MARKET,
  MARKET_HALTED: OTHER_MARKET,
  MARKET_PROPOSED: 'Call resolve_status: the market takes no orders while a payout is proposed.',
  MARKET_ENDED: 'Call resolve_status: the market takes no orders any more.',
  MARKET_RESOLVED: 'Call resolve_status: the market has paid out.',
  FOK_NOT_FILLED: 'Call book, and use a smaller size, a worse price, or order_type FAK.',
  FAK_NOT_FILLED:
    'Call book: nothing rests within the price. Use a worse price, or order_type GTC.',
  POST_ONLY_CROSSES: 'Use a price that does not meet the other side of the book, or no post_only.',
  DUPLICATE_ORDER: 'The order is placed already: call open_orders.',
  ORDER_NOT_OPEN: 'Call open_orders: the order has filled, or was cancelled.',
  UNKNOWN_ORDER: 'Call open_orders, and use an order_id that it lists.',
  UNKNOWN_ID: FIND_MARKET,
  UNKNOWN_SLUG: FIND_MARKET,
  UNKNOWN_MARKET: FIND_MARKET,
  UNKNOWN_BOOK: FIND_MARKET,
  LEDGER_OFF: 'This venue has no ledger: balances and statements do not exist here. Use positions.',
  TRADING_PAUSED:
    'Orders are paused and cancels work. Call time to see when orders are taken again.',
  TOO_MANY_REQUESTS: WAIT,
  ENGINE_BUSY: WAIT,
  NOT_APPLIED_YET: WAIT,
  BEING_DERIVED: WAIT,
  OUTCOME_UNKNOWN: TOOL_REFUSALS.RESULT_UNKNOWN.next,
  JOURNAL_UNAVAILABLE: TOOL_REFUSALS.RESULT_UNKNOWN.next,
  INTERNAL_ERROR: TOOL_REFUSALS.RESULT_UNKNOWN.next,
  AGENT_CASH:
    'Call balance: agent has what may be spent today. Use a smaller amount, or cancel an open purchase.',
  AGENT_ORDER_SIZE: 'Call balance: agent has the max_order_size. Use a smaller size.',
  AGENT_MARKET: 'Call balance: agent has the markets that the owner of the wallet allows.',
  AGENT_ENDED:
    'Tell the user: the owner of the wallet has ended this agent, and may authorise it again.',
  WALLET_FOREIGN:
    'Tell the user: the key is no agent of the wallet of this tool server, or is not any more.',
  INVALID_L2: SAME_KEY,
  ADDRESS_BANNED: 'Tell the user: the operator does not let this wallet trade.',
  INVALID_SIGNATURE:
    'Sign the order of the preview unchanged, for the exchange that exchange-info names.',
};

const ANY_NEXT = 'Correct what error and detail name, and call the tool again.';
const FAILED = 500;

/** Returns what a model does next after a refusal with this code. */
export function nextStep(code: string | undefined): string {
  const isKnown = code !== undefined && Object.hasOwn(NEXT_STEPS, code);
  return (isKnown && NEXT_STEPS[code as RefusalCode]) || ANY_NEXT;
}

/** Body of an answer that is an error. */
export interface ToolError {
  readonly error: string;
  readonly code: string;
  readonly detail?: string;
  /** Orders that were cancelled although the request was refused. */
  readonly canceled?: object;
  readonly next: string;
}

/** Refusal of a tool call, thrown by tools. */
export class ToolRefusal extends Error {
  readonly body: ToolError;

  constructor(body: ToolError) {
    super(body.error);
    this.body = body;
  }
}

export function toolRefusal(code: ToolRefusalCode, detail = ''): ToolRefusal {
  const { next, text } = TOOL_REFUSALS[code];
  return new ToolRefusal({ error: text, code, ...(detail === '' ? {} : { detail }), next });
}

/** Returns a refusal in the words of the node. */
export function nodeRefusal(
  text: string,
  code: RefusalCode | undefined = refusalCode(text),
  detail = '',
  canceled?: object,
): ToolRefusal {
  const error = nodeError(text, code, detail);
  return new ToolRefusal(canceled === undefined ? error : { ...error, canceled });
}

/** Returns the answer of a failed call; `undefined` where the failure is a bug. */
export function errorOf(failure: unknown): ToolError | undefined {
  if (failure instanceof ToolRefusal) return failure.body;
  if (failure instanceof NoAnswerError) return toolRefusal('RESULT_UNKNOWN', failure.message).body;
  if (failure instanceof ApiError) return nodeError(failure.reason, failure.code, failure.detail);
  return undefined;
}

/** Returns true where a request may have been carried out, although it failed. */
export function mayBeDone(failure: unknown): boolean {
  if (failure instanceof NoAnswerError) return failure.mayBeDone;
  return failure instanceof ApiError ? failure.status >= FAILED : !(failure instanceof ToolRefusal);
}

function nodeError(error: string, code: RefusalCode | undefined, sent: string): ToolError {
  const advice = code === undefined ? undefined : (REFUSALS[code] as { detail?: string }).detail;
  const detail = sent || advice;
  return {
    error,
    code: code ?? 'REFUSED',
    ...(detail === undefined ? {} : { detail }),
    next: nextStep(code),
  };
}
