/**
 * Advice for each refusal, where nothing more is known: the `detail` of a body that has no text of its own. One sentence
 * or two, without values of the request. Rules: docs/protocol.md#refusal-codes
 *
 * Data. A new code has no default: the compiler asks for its row here, or in the list of the others.
 */
import type { RefusalCode } from './refusals.ts';

/** Codes of other statuses than 400 and 401, and of no result: their bodies stay as they were published. */
type Other =
  | 'ENGINE_BUSY'
  | 'TRADING_PAUSED'
  | 'JOURNAL_UNAVAILABLE'
  | 'OUTCOME_UNKNOWN'
  | 'NOT_LEADING'
  | 'NOT_APPLIED_YET'
  | 'UNKNOWN_API_KEY'
  | 'INTERNAL_ERROR'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'PAYLOAD_TOO_LARGE'
  | 'TOO_MANY_REQUESTS'
  | 'SHUTTING_DOWN'
  | 'TOO_MANY_IN_FLIGHT'
  | 'UNKNOWN_BOOK'
  | 'UNKNOWN_MARKET'
  | 'UNKNOWN_ORDER'
  | 'UNKNOWN_ID'
  | 'UNKNOWN_SLUG'
  | 'NO_LIQUIDITY'
  | 'NO_MIDPOINT'
  | 'NO_SPREAD'
  | 'NO_TRADES'
  | 'BEING_DERIVED'
  | 'TOO_MANY_HEARTBEATS'
  | 'UPGRADE_REQUIRED'
  | 'TOO_MANY_CONNECTIONS'
  | 'UNKNOWN_KEY'
  | 'AUDIT_LOG_UNAVAILABLE'
  | 'ORDERS_NOT_CANCELED'
  | 'RATE_LIMITS_OFF'
  | 'FOREIGN_KEYS'
  | 'TOO_MANY_BANS'
  | 'TOO_MANY_NAMES'
  | 'NAME_TAKEN'
  | 'SLUG_OF_SEVERAL'
  | 'NEEDS_RUNNING_NODE'
  | 'CLOCK_NOT_IN_DOUBT'
  | 'UNKNOWN_EVENT'
  | 'IMPORTED_EVENT'
  | 'MADE_OTHERWISE'
  | 'FIXED_MEMBER'
  | 'COARSER_TICK'
  | 'NO_GROUP'
  | 'CATALOG_CONFLICT'
  | 'CATALOG_NOT_CHANGED'
  | 'CATALOG_BEHIND'
  | 'FORBIDDEN'
  | 'MISDIRECTED';

/** Members of some refusals beside `detail`, for programs: all are texts. */
export const REFUSAL_FACTS = {
  needed: 'NOT_ENOUGH_BALANCE: a decimal, collateral or shares',
  free: 'NOT_ENOUGH_BALANCE: what is not reserved of it',
  reserved: 'NOT_ENOUGH_BALANCE: what open orders reserve of it',
  heartbeat_id: 'INVALID_HEARTBEAT: the present one',
  recovered:
    'INVALID_SIGNATURE, INVALID_L1: the address that made the signature, over what was sent',
  fits: 'INVALID_SIGNATURE: with what the signature would be that of the signer',
} as const;

export const REFUSAL_DETAILS: Readonly<Record<Exclude<RefusalCode, Other>, string>> = {
  // Of one order or one cancel.
  OWNER_MISMATCH: 'owner must be the API key of the request, and signer the address of that key',
  POST_ONLY_TYPE: 'FOK and FAK orders never rest: send them without postOnly',
  UNKNOWN_CONDITION: 'no market of this node has this conditionId; GET /markets lists them',
  UNKNOWN_TOKEN:
    'no market of this node has this token id; GET /markets lists them in clobTokenIds',
  TOKEN_OF_OTHER_CONDITION: 'the token belongs to another market than conditionId names',
  TAKER_NOT_PUBLIC: 'private orders are not taken: sign with the zero address as taker',
  DUPLICATE_ORDER:
    'orderID and status are those of the known order; another salt makes another order',
  MARKET_NOT_READY:
    'the market takes no orders now; GET /markets shows active, closed and acceptingOrders',
  AMOUNT_NOT_POSITIVE: 'both amounts are whole micro-units above 0',
  MARKET_HALTED:
    'the market is halted, or the catalog has left it out: open orders stay, and can be canceled',
  MARKET_PROPOSED:
    'a payout of the market is proposed: it takes no orders unless that is taken back',
  MARKET_ENDED: 'the end of the market has come: it takes no orders again, and can still resolve',
  MARKET_CLOSED: 'the operator has closed the market: it takes no orders again',
  EXPIRATION_PAST:
    'expiration is in unix seconds, and must be later than the time of the node; GET /time',
  EXPIRATION_REQUIRED: 'a GTD order needs an expiration in unix seconds',
  EXPIRATION_INVALID: 'only GTD orders expire: sign others with expiration 0',
  FEE_NEGATIVE:
    'feeRateBps is a whole number of basis points from the base fee of the market to 1000',
  FEE_BELOW_BASE: 'sign at least the base fee of the market, which GET /fee-rate shows',
  FEE_TOO_HIGH:
    'feeRateBps is a whole number of basis points from the base fee of the market to 1000',
  SIZE_ABOVE_MAXIMUM:
    'shares, collateral and the whole size of a price level end at 2^53 - 1 micro-units',
  TICK_SIZE:
    'the price of the amounts must be a multiple of the tick size, which GET /tick-size shows',
  SIZE_BELOW_MINIMUM: 'GET /book shows the least size as min_order_size',
  INVALID_SIGNATURE:
    'the signature must be of the signer, over the order as sent, in the domain of this node for the market',
  TOO_MANY_OPEN_ORDERS: 'cancel some of the open orders of the signer first',
  NO_ROOM: 'a table of the node is full, or the signer has too many wallets',
  POST_ONLY_CROSSES: 'the order would trade at once: choose a price further from the other side',
  FOK_NOT_FILLED:
    'the book has less than the whole size within the limit price; nothing was traded',
  FAK_NOT_FILLED: 'the book has nothing within the limit price; nothing was traded',
  SELF_TRADE:
    'the order would trade with another of the same wallet, which SELF_TRADE of the node forbids',
  ORDER_NOT_OPEN: 'no open order of the caller has this id: it has ended, or never was',
  ADDRESS_BANNED: 'the operator has banned the wallet',
  MARKET_NOT_CHANGED: 'the market is there already, or the change is one that markets do not take',
  NOT_ENOUGH_BALANCE: 'needed is more than free; open orders reserve what they may still cost',
  LEDGER_OFF: 'this node keeps no balances: LEDGER=on, on a directory that was made with it',
  ID_REPEATED: 'it was done before under this id, and is not done again',
  ID_CONFLICT: 'another request was done under this id: take a new one',
  ID_TOO_OLD: 'begin an id with the present unix milliseconds',
  ID_INVALID: 'begin an id with the present unix milliseconds, then - and a text of your own',
  IDS_FULL: 'begin the id with the present unix milliseconds: those need no room',
  SIGNER_HAS_ORDERS: 'orders cancel ends them; then declare the signer',
  AMOUNT_INVALID: 'amounts are whole micro-units: 1000000 is one unit',
  DEPOSITS_TOO_LARGE: 'pay out first, or pay in less',
  UNKNOWN_WALLET: 'the wallet never had anything at this node',
  WALLET_SIGNS: 'a wallet that has signed an order for itself keeps its own key',
  MARKET_NOT_REGISTERED: 'no market of this node has this condition id; GET /markets lists them',
  MARKET_RESOLVED: 'its payouts are final; balances show them as collateral',
  PAYOUT_INVALID: 'name a weight for each outcome, in the order that GET /markets shows',
  GROUP_HAS_WINNER: 'at most one market of a neg-risk event resolves to its first outcome',
  PROPOSAL_PENDING:
    'market withdraw-proposal takes the proposal back; then resolve or propose again',
  REVIEW_INVALID: 'a review is whole seconds, from 1 to 31536000',
  NO_PROPOSAL: 'market list shows which markets are proposed',
  NOT_BINARY: 'only a market of two outcomes has levels of a source',
  SOURCE_CROSSED: 'a source that crosses itself is not shown',
  // Of a request for orders.
  INVALID_ORDER_PAYLOAD: 'the body is not what POST /order and POST /orders take: see /docs',
  ORDER_VERSION_MISMATCH: 'GET /version names the version of orders that this node takes',
  TOO_MANY_ORDERS: 'send them in several requests',
  // Of credentials.
  INVALID_L1: 'level 1 is a signature of the wallet over ClobAuth; server/API.md has the headers',
  INVALID_L2:
    'level 2 is an HMAC of the request with the secret of an API key; server/API.md has the headers',
  INVALID_AUTH: 'send apikey, secret and passphrase as POST /auth/api-key gave them',
  INVALID_KEY: 'the key is none, or belongs to another wallet',
  ADDRESS_NOT_ALLOWED: 'the operator allows this route for other addresses',
  TOO_MANY_API_KEYS: 'revoked keys count: use a nonce again',
  // Of any request.
  BAD_REQUEST: 'a parameter breaks its rule: see /docs',
  INVALID_PAYLOAD: 'the body is not what this route takes: see /docs',
  PAYLOAD_EXCEEDS_LIMIT: 'send fewer items in one request',
  UNKNOWN_FIELD: 'this route takes no such field: see /docs',
  INVALID_FIELD: 'the field breaks its rule: see /docs',
  INVALID_CURSOR:
    'pass next_cursor of the page before, or none for the first page; LTE= ends the pages',
  // Of reads.
  INVALID_TOKEN_ID: 'name a token as decimal digits in token_id',
  INVALID_SIDE: 'side is BUY or SELL',
  INVALID_ASSET_TYPE: 'asset_type is COLLATERAL or CONDITIONAL',
  INVALID_SIGNATURE_TYPE: 'signature_type is 0, 1, 2 or 3',
  MARKET_REQUIRED: 'market is the id of a token',
  INVALID_WINDOW: 'give interval, or startTs with or without endTs, in unix seconds',
  // Of heartbeats and streams.
  INVALID_HEARTBEAT: 'heartbeat_id is that of the last answer, which this one names',
  INVALID_MESSAGE: 'server/streams/README.md has the messages that a stream takes',
  TOO_MANY_SUBSCRIPTIONS: 'open another connection for more',
  RESUME_UNAVAILABLE: 'the events since then are gone: subscribe anew and read the books',
  // Of operators.
  INVALID_BODY: 'the body must be a JSON object',
  INVALID_LIMIT: 'requests/seconds such as 400/10, or off, of a row that GET /rate-limits names',
  NO_BOOK: 'its tick or minimum is none',
  UNAUTHORIZED: 'send Authorization: Bearer with ADMIN_TOKEN of the node',
};
