/**
 * Every refusal by its code, which never changes, with the texts that clients see. A text that ends
 * with a colon and a blank begins others. The order of the codes means nothing.
 * Rules: docs/protocol.md#refusal-codes
 *
 * Data; from it come the bodies of errors, the document, and the client's type RefusalCode.
 */
export const REFUSALS = {
  // Of one order or one cancel.
  OWNER_MISMATCH: ['owner_address_mismatch'],
  POST_ONLY_TYPE: ['postOnly requires GTC or GTD'],
  UNKNOWN_CONDITION: ['condition is not registered'],
  UNKNOWN_TOKEN: ['token is not registered'],
  TOKEN_OF_OTHER_CONDITION: ['tokenId not found for conditionId lookup'],
  TAKER_NOT_PUBLIC: ['taker must be the zero address'],
  DUPLICATE_ORDER: [
    "order is invalid. Duplicated. Same order has already been placed, can't be placed again",
  ],
  MARKET_NOT_READY: ['the market is not yet ready to process new orders'],
  AMOUNT_NOT_POSITIVE: ['makerAmount and takerAmount must be positive'],
  EXPIRATION_PAST: ['expiration must be in the future'],
  EXPIRATION_REQUIRED: ['expiration is required'],
  EXPIRATION_INVALID: ['invalid expiration'],
  FEE_NEGATIVE: ['feeRateBps must be non-negative'],
  FEE_BELOW_BASE: ['feeRateBps must be >= exchangeBaseFeeRate'],
  FEE_TOO_HIGH: ['feeRateBps must be <= 1000'],
  SIZE_ABOVE_MAXIMUM: ['order is invalid. Size higher than the maximum'],
  TICK_SIZE: ['order is invalid. Price breaks minimum tick size rules'],
  SIZE_BELOW_MINIMUM: ['order is invalid. Size lower than the minimum'],
  INVALID_SIGNATURE: ['invalid order signature'],
  TOO_MANY_OPEN_ORDERS: ['too many open orders'],
  NO_ROOM: ['could not insert order'],
  POST_ONLY_CROSSES: [
    'postOnly would cross the best ask',
    'postOnly would cross the best bid',
    'invalid post-only order: order crosses book',
  ],
  FOK_NOT_FILLED: [
    "order couldn't be fully filled, FOK orders are fully filled/killed",
    "order couldn't be fully filled. FOK orders are fully filled or killed.",
  ],
  FAK_NOT_FILLED: [
    'no orders found to match with FAK order. FAK orders are partially filled or killed if no ' +
      'match is found.',
  ],
  SELF_TRADE: ['self trade prevented'],
  ORDER_NOT_OPEN: ["order can't be found - already canceled or matched"],
  MARKET_NOT_CHANGED: ['market is already registered or cannot be changed so'],
  NOT_ENOUGH_BALANCE: ['not enough balance / allowance'],
  LEDGER_OFF: ['this node has no ledger'],
  ID_REPEATED: ['id was used before, with the same body'],
  ID_CONFLICT: ['id was used before, with another body'],
  ID_TOO_OLD: ['id is older than the oldest that is kept'],
  ID_INVALID: ['id must begin with unix milliseconds, at most 300 s ahead'],
  AMOUNT_INVALID: ['amount must be a whole number of micro-units from 1 to 2^53 - 1'],
  DEPOSITS_TOO_LARGE: ['deposits less withdrawals would exceed 2^52 micro-units'],
  UNKNOWN_WALLET: ['wallet is not known'],
  WALLET_SIGNS: ['wallet has signed for itself'],
  MARKET_NOT_REGISTERED: ['market is not registered'],
  MARKET_RESOLVED: ['market has resolved'],
  PAYOUT_INVALID: [
    'payout must be a whole number for each outcome, with a sum from 1 to 10000; all equal if void',
  ],
  GROUP_HAS_WINNER: ['another market of the group has resolved to its first outcome'],
  // Of a request for orders.
  INVALID_ORDER_PAYLOAD: ['Invalid order payload'],
  ORDER_VERSION_MISMATCH: ['order_version_mismatch'],
  TOO_MANY_ORDERS: ['Too many orders in payload: ', 'Too many orders in payload, max allowed: '],
  ENGINE_BUSY: ['engine busy'],
  JOURNAL_UNAVAILABLE: ['journal unavailable'],
  // Of credentials.
  INVALID_L1: ['invalid_l1: '],
  INVALID_L2: ['invalid_l2: '],
  INVALID_AUTH: ['invalid_auth'],
  INVALID_KEY: ['invalid key'],
  ADDRESS_NOT_ALLOWED: ['unauthorized: ip_not_allowlisted'],
  UNKNOWN_API_KEY: ['API key not found'],
  TOO_MANY_API_KEYS: ['too many API keys', 'too many read-only keys'],
  // Of any request.
  INTERNAL_ERROR: ['internal_error', 'internal_error: ', 'internal error'],
  BAD_REQUEST: ['bad request', 'q is required'],
  NOT_FOUND: ['not found'],
  METHOD_NOT_ALLOWED: ['method not allowed'],
  PAYLOAD_TOO_LARGE: ['payload too large'],
  TOO_MANY_REQUESTS: ['Too Many Requests'],
  SHUTTING_DOWN: ['shutting down'],
  TOO_MANY_IN_FLIGHT: [
    'too many answers in flight',
    'too many bodies in flight',
    'too many searches are waiting',
  ],
  INVALID_PAYLOAD: ['Invalid payload', 'invalid payload'],
  PAYLOAD_EXCEEDS_LIMIT: ['Payload exceeds the limit'],
  UNKNOWN_FIELD: ['unknown_field: '],
  INVALID_FIELD: ['invalid_field: '],
  INVALID_CURSOR: ['invalid next_cursor'],
  // Of reads.
  INVALID_TOKEN_ID: ['Invalid token id'],
  INVALID_SIDE: ['Invalid side'],
  INVALID_ASSET_TYPE: ['Invalid asset type'],
  INVALID_SIGNATURE_TYPE: ['Invalid signature type'],
  UNKNOWN_BOOK: ['No orderbook exists for the requested token id'],
  UNKNOWN_MARKET: ['market not found'],
  UNKNOWN_ORDER: ['order not found'],
  UNKNOWN_ID: ['id not found'],
  UNKNOWN_SLUG: ['slug not found'],
  NO_LIQUIDITY: ['No liquidity for the requested side'],
  NO_MIDPOINT: ['No midpoint for the requested token id'],
  NO_SPREAD: ['No spread for the requested token id'],
  NO_TRADES: ['No trades found for the requested token id'],
  MARKET_REQUIRED: ['market is required'],
  INVALID_WINDOW: [
    'interval or startTs is required',
    'interval cannot be combined with startTs or endTs',
    'startTs must not be after endTs',
  ],
  BEING_DERIVED: ['positions are being derived', 'price history is being made again'],
  // Of heartbeats and streams.
  INVALID_HEARTBEAT: ['invalid heartbeat_id'],
  TOO_MANY_HEARTBEATS: ['too many heartbeats'],
  UPGRADE_REQUIRED: ['websocket upgrade required'],
  TOO_MANY_CONNECTIONS: [
    'too many stream connections',
    'too many stream connections of this address',
  ],
  INVALID_MESSAGE: ['invalid_message'],
  TOO_MANY_SUBSCRIPTIONS: ['too_many_subscriptions'],
  RESUME_UNAVAILABLE: ['resume_unavailable'],
  // Of operators.
  CLOCK_NOT_IN_DOUBT: ['the clock is not in doubt'],
  UNAUTHORIZED: ['unauthorized'],
  FORBIDDEN: ['forbidden'],
  MISDIRECTED: ['misdirected request'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RefusalCode = keyof typeof REFUSALS;
