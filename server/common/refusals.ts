/**
 * Refusals by their code, which never changes: HTTP status, exact texts, advice and the engine's reject reasons.
 * Error bodies, results of orders, the client's codes and the tables of the documents come from this table.
 * Rules: docs/protocol.md#refusal-codes
 *
 * Thread: any. Data.
 */
import { RejectReason, type RejectReasonCode } from '../../engine/orders/reject-reasons.ts';

export type RejectNumber = Exclude<RejectReasonCode, 0>;

interface Refusal {
  /** Usual HTTP status of a request that is refused; absent in messages of streams. */
  readonly status?: number;
  /** The usual text first. A text that ends with a blank begins others. */
  readonly texts: readonly [string, ...string[]];
  /** Text of results with ORDER_TEXTS=polymarket, where it differs. */
  readonly profileText?: string;
  /** Advice of one sentence or two, without values of the request. */
  readonly detail?: string;
  readonly reasons?: readonly RejectNumber[];
  /** Reasons that share the code and differ in a column. */
  readonly byReason?: Readonly<
    Partial<
      Record<
        RejectNumber,
        { readonly status?: number; readonly text?: string; readonly detail?: string }
      >
    >
  >;
}

/** Bodies of status 400 and 401, and messages of streams, always have advice. */
type RefusalRow = Refusal &
  (
    | { readonly status: 403 | 404 | 405 | 409 | 413 | 421 | 425 | 426 | 429 | 500 | 503 }
    | { readonly status?: 400 | 401; readonly detail: string }
  );

const NOT_READY = 'the market is not yet ready to process new orders';

export const REFUSALS = {
  // Orders, cancels and commands of the ledger.
  OWNER_MISMATCH: {
    status: 400,
    texts: ['owner_address_mismatch'],
    detail: 'owner must be the API key of the request, and signer the address of that key',
    reasons: [RejectReason.ownerMismatch],
  },
  POST_ONLY_TYPE: {
    status: 400,
    texts: ['postOnly requires GTC or GTD'],
    detail: 'FOK and FAK orders never rest: send them without postOnly',
    reasons: [RejectReason.postOnlyType],
  },
  UNKNOWN_CONDITION: {
    status: 400,
    texts: ['condition is not registered'],
    detail: 'no market of this node has this conditionId; GET /markets lists them',
    reasons: [RejectReason.conditionUnknown],
  },
  UNKNOWN_TOKEN: {
    status: 400,
    texts: ['token is not registered'],
    detail: 'no market of this node has this token id; GET /markets lists them in clobTokenIds',
    reasons: [RejectReason.tokenUnknown],
  },
  TOKEN_OF_OTHER_CONDITION: {
    status: 400,
    texts: ['tokenId not found for conditionId lookup'],
    detail: 'the token belongs to another market than conditionId names',
    reasons: [RejectReason.tokenOfOtherCondition],
  },
  TAKER_NOT_PUBLIC: {
    status: 400,
    texts: ['taker must be the zero address'],
    detail: 'private orders are not taken: sign with the zero address as taker',
    reasons: [RejectReason.takerNotPublic],
  },
  DUPLICATE_ORDER: {
    status: 400,
    texts: [
      "order is invalid. Duplicated. Same order has already been placed, can't be placed again",
    ],
    detail: 'orderID and status are those of the known order; another salt makes another order',
    reasons: [RejectReason.duplicate],
  },
  MARKET_NOT_READY: {
    status: 400,
    texts: [NOT_READY],
    detail: 'the market takes no orders now; GET /markets shows active, closed and acceptingOrders',
    reasons: [RejectReason.marketNotReady],
  },
  MARKET_HALTED: {
    status: 400,
    texts: [NOT_READY],
    detail:
      'the market is halted, or the catalog has left it out: open orders stay, and can be canceled',
  },
  MARKET_PROPOSED: {
    status: 400,
    texts: [NOT_READY],
    detail: 'a payout of the market is proposed: it takes no orders unless that is taken back',
  },
  MARKET_ENDED: {
    status: 409,
    texts: ['the market has ended', NOT_READY],
    detail: 'the end of the market has come: it takes no orders again, and can still resolve',
  },
  AMOUNT_NOT_POSITIVE: {
    status: 400,
    texts: ['makerAmount and takerAmount must be positive'],
    detail: 'both amounts are whole micro-units above 0',
    reasons: [RejectReason.amountsNotPositive],
  },
  EXPIRATION_PAST: {
    status: 400,
    texts: ['expiration must be in the future'],
    profileText: 'invalid expiration',
    detail: 'expiration is in unix seconds, and must be later than the time of the node; GET /time',
    reasons: [RejectReason.expirationPast],
  },
  EXPIRATION_REQUIRED: {
    status: 400,
    texts: ['expiration is required'],
    profileText: 'invalid expiration',
    detail: 'a GTD order needs an expiration in unix seconds',
    reasons: [RejectReason.expirationRequired],
  },
  EXPIRATION_INVALID: {
    status: 400,
    texts: ['invalid expiration'],
    detail: 'only GTD orders expire: sign others with expiration 0',
    reasons: [RejectReason.expirationInvalid],
  },
  FEE_NEGATIVE: {
    status: 400,
    texts: ['feeRateBps must be non-negative'],
    detail: 'feeRateBps is a whole number of basis points from the base fee of the market to 1000',
    reasons: [RejectReason.feeNegative],
  },
  FEE_BELOW_BASE: {
    status: 400,
    texts: ['feeRateBps must be >= exchangeBaseFeeRate'],
    detail: 'sign at least the base fee of the market, which GET /fee-rate shows',
    reasons: [RejectReason.feeBelowBase],
  },
  FEE_TOO_HIGH: {
    status: 400,
    texts: ['feeRateBps must be <= 1000'],
    detail: 'feeRateBps is a whole number of basis points from the base fee of the market to 1000',
    reasons: [RejectReason.feeTooHigh],
  },
  SIZE_ABOVE_MAXIMUM: {
    status: 400,
    texts: ['order is invalid. Size higher than the maximum'],
    detail: 'shares, collateral and the whole size of a price level end at 2^53 - 1 micro-units',
    reasons: [RejectReason.sizeAboveMaximum],
  },
  TICK_SIZE: {
    status: 400,
    texts: ['order is invalid. Price breaks minimum tick size rules'],
    detail:
      'the price of the amounts must be a multiple of the tick size, which GET /tick-size shows',
    reasons: [RejectReason.tick],
  },
  SIZE_BELOW_MINIMUM: {
    status: 400,
    texts: ['order is invalid. Size lower than the minimum'],
    detail: 'GET /book shows the least size as min_order_size',
    reasons: [RejectReason.sizeBelowMinimum],
  },
  INVALID_SIGNATURE: {
    status: 400,
    texts: [
      'invalid order signature',
      'invalid order signature: signatures of session keys are not taken',
    ],
    detail:
      'the signature must be of the signer, over the order as sent, in the domain of this node for the market',
    reasons: [RejectReason.signature, RejectReason.binding],
    byReason: {
      [RejectReason.binding]: {
        detail:
          'another key signs for this wallet, or none was declared for it: the operator declares who signs',
      },
    },
  },
  TOO_MANY_OPEN_ORDERS: {
    status: 400,
    texts: ['too many open orders'],
    detail: 'cancel some of the open orders of the signer, wallet or agent first',
    reasons: [RejectReason.tooManyOpen],
  },
  EXPOSURE_TOO_HIGH: {
    status: 400,
    texts: ['exposure of the wallet would be too high'],
    detail:
      'reserved cash and what the positions cost, with this order, are more than the node allows for a wallet',
    reasons: [RejectReason.exposureTooHigh],
  },
  AGENT_ENDED: {
    status: 403,
    texts: ['the agent is not authorised any more'],
    detail:
      'it was revoked, its end has come, or the wallet has another signer: the owner of the wallet authorises it again with POST /agents',
    reasons: [RejectReason.agentEnded],
  },
  AGENT_MARKET: {
    status: 403,
    texts: ['the agent may not trade this market'],
    detail: 'GET /agents lists its markets; the owner of the wallet authorises it for others',
    reasons: [RejectReason.agentMarket],
  },
  AGENT_ORDER_SIZE: {
    status: 403,
    texts: ['the order is larger than the agent may place'],
    detail: 'GET /agents shows maxOrderSize: sign an order of fewer shares',
    reasons: [RejectReason.agentSize],
  },
  AGENT_CASH: {
    status: 403,
    texts: ['the cash of the agent for this day does not suffice'],
    detail:
      'purchases of the UTC day, open purchases and this order would exceed cashPerDay: buy less, cancel some, or wait for the next day',
    reasons: [RejectReason.agentCash],
  },
  TOO_MANY_DELAYED_ORDERS: {
    status: 400,
    texts: ['too many delayed orders'],
    detail: '64 orders of the signer wait for a taker delay: wait for one, or cancel some',
    reasons: [RejectReason.tooManyDelayed],
  },
  NO_ROOM: {
    status: 503,
    texts: ['could not insert order'],
    detail: 'a table of the node is full, or the signer has too many wallets',
    reasons: [RejectReason.tooManyWallets, RejectReason.tableFull],
    byReason: {
      [RejectReason.tooManyWallets]: {
        status: 400,
        detail: 'the signer has as many wallets as WALLETS_PER_SIGNER allows',
      },
      [RejectReason.tableFull]: {
        detail: 'a table of the node is full: open orders, wallets or positions',
      },
    },
  },
  POST_ONLY_CROSSES: {
    status: 400,
    texts: ['postOnly would cross the best ask', 'postOnly would cross the best bid'],
    profileText: 'invalid post-only order: order crosses book',
    detail: 'the order would trade at once: choose a price further from the other side',
    reasons: [RejectReason.postOnlyCrossesAsk, RejectReason.postOnlyCrossesBid],
    byReason: { [RejectReason.postOnlyCrossesBid]: { text: 'postOnly would cross the best bid' } },
  },
  FOK_NOT_FILLED: {
    status: 400,
    texts: ["order couldn't be fully filled, FOK orders are fully filled/killed"],
    profileText: "order couldn't be fully filled. FOK orders are fully filled or killed.",
    detail: 'the book has less than the whole size within the limit price; nothing was traded',
    reasons: [RejectReason.fokUnfilled],
  },
  FAK_NOT_FILLED: {
    status: 400,
    texts: [
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
    ],
    detail: 'the book has nothing within the limit price; nothing was traded',
    reasons: [RejectReason.fakUnfilled],
  },
  SELF_TRADE: {
    status: 400,
    texts: ['self trade prevented'],
    detail:
      'the order would trade with another of the same wallet, which SELF_TRADE of the node forbids',
    reasons: [RejectReason.selfTrade],
  },
  ORDER_NOT_OPEN: {
    status: 400,
    texts: ["order can't be found - already canceled or matched"],
    detail: 'no open order of the caller has this id: it has ended, or never was',
    reasons: [RejectReason.orderNotFound],
  },
  ADDRESS_BANNED: {
    status: 403,
    texts: ['address banned'],
    detail: 'the operator has banned the wallet',
    reasons: [RejectReason.walletBanned],
  },
  MARKET_NOT_CHANGED: {
    status: 400,
    texts: ['market is already registered or cannot be changed so'],
    detail: 'the market is there already, or the change is one that markets do not take',
    reasons: [
      RejectReason.marketRefused,
      RejectReason.feeScheduleInvalid,
      RejectReason.takerDelayInvalid,
    ],
  },
  NOT_ENOUGH_BALANCE: {
    status: 400,
    texts: ['not enough balance / allowance'],
    detail: 'needed is more than free; open orders reserve what they may still cost',
    reasons: [RejectReason.notEnough],
  },
  LEDGER_OFF: {
    status: 409,
    texts: ['this node has no ledger'],
    detail: 'this node keeps no balances: LEDGER=on, on a directory that was made with it',
    reasons: [RejectReason.ledgerOff],
  },
  ID_REPEATED: {
    status: 400,
    texts: ['id was used before, with the same body'],
    detail: 'it was done before under this id, and is not done again',
    reasons: [RejectReason.idRepeated],
  },
  ID_CONFLICT: {
    status: 409,
    texts: ['id was used before, with another body'],
    detail: 'another request was done under this id: take a new one',
    reasons: [RejectReason.idConflict],
  },
  ID_TOO_OLD: {
    status: 409,
    texts: ['id is older than the oldest that is kept'],
    detail: 'begin an id with the present unix milliseconds',
    reasons: [RejectReason.idTooOld],
  },
  ID_INVALID: {
    status: 400,
    texts: [
      'id must begin with unix milliseconds, at most 300 s ahead',
      'id must be a text of 1 to 128 printable characters',
    ],
    detail: 'begin an id with the present unix milliseconds, then - and a text of your own',
    reasons: [RejectReason.idInvalid],
  },
  IDS_FULL: {
    status: 503,
    texts: ['no room for another id without unix milliseconds'],
    detail: 'begin the id with the present unix milliseconds: those need no room',
    reasons: [RejectReason.idsFull],
  },
  AMOUNT_INVALID: {
    status: 400,
    texts: ['amount must be a whole number of micro-units from 1 to 2^53 - 1'],
    detail: 'amounts are whole micro-units: 1000000 is one unit',
    reasons: [RejectReason.amountInvalid],
  },
  DEPOSITS_TOO_LARGE: {
    status: 409,
    texts: ['deposits less withdrawals would exceed 2^52 micro-units'],
    detail: 'pay out first, or pay in less',
    reasons: [RejectReason.depositsTooLarge],
  },
  UNKNOWN_WALLET: {
    status: 404,
    texts: ['wallet is not known'],
    detail: 'the wallet never had anything at this node',
    reasons: [RejectReason.walletUnknown],
  },
  WALLET_SIGNS: {
    status: 409,
    texts: ['wallet has signed for itself'],
    detail: 'a wallet that has signed an order for itself keeps its own key',
    reasons: [RejectReason.bindingConflict],
  },
  SIGNER_HAS_ORDERS: {
    status: 409,
    texts: ['the signer before has too many open orders: cancel them first'],
    detail: 'orders cancel ends them; then declare the signer',
    reasons: [RejectReason.signerHasOrders],
  },
  MARKET_NOT_REGISTERED: {
    status: 404,
    texts: ['market is not registered'],
    detail: 'no market of this node has this condition id; GET /markets lists them',
    reasons: [RejectReason.marketUnknown],
  },
  MARKET_RESOLVED: {
    status: 409,
    texts: ['market has resolved', NOT_READY],
    detail: 'its payouts are final; balances show them as collateral',
    reasons: [RejectReason.marketResolved],
  },
  PAYOUT_INVALID: {
    status: 400,
    texts: [
      'payout must be a whole number for each outcome, with a sum from 1 to 10000; all equal if void',
    ],
    detail: 'name a weight for each outcome, in the order that GET /markets shows',
    reasons: [RejectReason.payoutInvalid],
  },
  GROUP_HAS_WINNER: {
    status: 409,
    texts: ['another market of the group has resolved to its first outcome'],
    detail: 'at most one market of a neg-risk event resolves to its first outcome',
    reasons: [RejectReason.groupHasWinner],
  },
  PROPOSAL_PENDING: {
    status: 409,
    texts: ['a payout of the market is proposed'],
    detail: 'market withdraw-proposal takes the proposal back; then resolve or propose again',
    reasons: [RejectReason.marketProposed],
  },
  REVIEW_INVALID: {
    status: 400,
    texts: ['review must be a time of at most 365 days'],
    detail: 'a review is whole seconds, from 1 to 31536000',
    reasons: [RejectReason.reviewInvalid],
  },
  NO_PROPOSAL: {
    status: 409,
    texts: ['no payout of the market is proposed'],
    detail: 'market list shows which markets are proposed',
    reasons: [RejectReason.proposalUnknown],
  },
  SEASON_BUSY: {
    status: 409,
    texts: ['the season cannot end yet'],
    detail: 'resolve markets, cancel orders and withdraw proposals first',
    reasons: [RejectReason.seasonBusy],
  },
  SEASON_ENDING: {
    status: 503,
    texts: ['a season ends: nothing is traded or paid until balances are reset'],
    detail: 'send it again in a moment: the next season begins then',
    reasons: [RejectReason.seasonEnding],
  },
  NOT_BINARY: {
    status: 400,
    texts: ['market has not two outcomes'],
    detail: 'only a market of two outcomes has levels of a source',
    reasons: [RejectReason.notBinary],
  },
  SOURCE_CROSSED: {
    status: 400,
    texts: ['the level would meet one of the source on the other side'],
    detail: 'a source that crosses itself is not shown',
    reasons: [RejectReason.sourceCrossed],
  },

  // Requests for orders.
  INVALID_ORDER_PAYLOAD: {
    status: 400,
    texts: ['Invalid order payload'],
    detail: 'the body is not what POST /order and POST /orders take: see /docs',
  },
  ORDER_VERSION_MISMATCH: {
    status: 400,
    texts: ['order_version_mismatch'],
    detail: 'GET /version names the version of orders that this node takes',
  },
  TOO_MANY_ORDERS: {
    status: 400,
    texts: ['Too many orders in payload: ', 'Too many orders in payload, max allowed: '],
    detail: 'send them in several requests',
  },
  ENGINE_BUSY: {
    status: 503,
    texts: ['engine busy'],
  },
  TRADING_PAUSED: {
    status: 503,
    texts: [
      'Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.',
    ],
  },
  TRADING_DISABLED: {
    status: 503,
    texts: ['Trading is currently disabled. Check polymarket.com for updates'],
  },
  VENUE_RESTARTING: {
    status: 425,
    texts: ['the matching engine is restarting'],
  },
  POST_ONLY_MODE: {
    status: 503,
    texts: ['post-only mode: only post-only orders and cancels are allowed'],
  },
  JOURNAL_UNAVAILABLE: {
    status: 503,
    texts: ['journal unavailable'],
  },
  OUTCOME_UNKNOWN: {
    status: 503,
    texts: ['outcome unknown, ask by id'],
  },
  NOT_LEADING: {
    status: 503,
    texts: ['this node of the cluster does not lead'],
  },
  NOT_APPLIED_YET: {
    status: 503,
    texts: ['this node has not applied X-Min-Sequence yet'],
  },

  // Credentials.
  INVALID_L1: {
    status: 401,
    texts: ['invalid_l1: '],
    detail:
      'level 1 is a signature of the wallet over ClobAuth; docs/reference/api.md has the headers',
  },
  INVALID_L2: {
    status: 401,
    texts: ['invalid_l2: '],
    detail:
      'level 2 is an HMAC of the request with the secret of an API key; docs/reference/api.md has the headers',
  },
  INVALID_AUTH: {
    texts: ['invalid_auth'],
    detail: 'send apikey, secret and passphrase as POST /auth/api-key gave them',
  },
  INVALID_KEY: {
    status: 400,
    texts: ['invalid key'],
    detail: 'the key is none, or belongs to another wallet',
  },
  ADDRESS_NOT_ALLOWED: {
    status: 401,
    texts: ['unauthorized: ip_not_allowlisted'],
    detail: 'the operator allows this route for other addresses',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    texts: ['origin not allowed'],
    detail:
      'pages may call tools where CORS_ORIGINS of the node lists their origin; programs send none',
  },
  UNKNOWN_API_KEY: {
    status: 404,
    texts: ['API key not found'],
  },
  TOO_MANY_API_KEYS: {
    status: 400,
    texts: ['too many API keys', 'too many read-only keys'],
    detail: 'revoked keys count: use a nonce again',
  },
  // Relayed batches.
  NONCE_MISMATCH: {
    status: 400,
    texts: ['batch nonce '],
    detail: 'a nonce is used once: GET /nonce shows the next one of the wallet',
    reasons: [RejectReason.nonceMismatch],
  },
  MARKET_UNRESOLVED: {
    status: 409,
    texts: ['market has not resolved'],
    detail: 'there is nothing to redeem before a market resolves; then payouts come by themselves',
    reasons: [RejectReason.marketUnresolved],
  },
  INVALID_BATCH_SIGNATURE: {
    status: 400,
    texts: ['invalid batch signature'],
    detail:
      'the signature must be of the owner in from, over wallet, nonce, deadline and calls as sent',
  },
  BATCH_EXPIRED: {
    status: 400,
    texts: ['batch deadline is past'],
    detail:
      'deadline is in unix seconds, and must not be earlier than the time of the node; GET /time',
  },
  WALLET_NOT_DEPLOYED: {
    status: 400,
    texts: ['wallet is not deployed'],
    detail: 'the wallet of an owner is there once the owner has an API key: POST /auth/api-key',
  },
  UNKNOWN_CALL: {
    status: 400,
    texts: ['call is not known'],
    detail: 'approvals, splits, merges and redemptions at the contracts of the market are taken',
  },
  INVALID_CALL: {
    status: 400,
    texts: ['invalid call'],
    detail: 'the data is not what the function takes, or the call sends value',
  },
  UNKNOWN_SEASON: {
    status: 404,
    texts: ['season not found'],
    detail: 'GET /seasons lists those that are over',
  },
  UNKNOWN_TRANSACTION: {
    status: 404,
    texts: ['transaction not found'],
  },
  // Invitations.
  INVITATION_REQUIRED: {
    status: 403,
    texts: ['this venue is for invited people: redeem an invitation first'],
    detail: 'POST /invites/redeem with the code of an invitation; the page has it at /app/join',
  },
  INVITATION_UNKNOWN: {
    status: 404,
    texts: ['invitation is not known'],
    detail: 'no open invitation has this code: it is mistyped, or was revoked',
    reasons: [RejectReason.inviteUnknown],
  },
  INVITATION_REDEEMED: {
    status: 409,
    texts: ['invitation was redeemed'],
    detail: 'each code is for one wallet: ask the operator for another',
    reasons: [RejectReason.inviteRedeemed],
  },
  WALLET_INVITED: {
    status: 409,
    texts: ['wallet has redeemed an invitation'],
    detail: 'a wallet redeems one code',
    reasons: [RejectReason.walletInvited],
  },
  INVITATIONS_FULL: {
    status: 503,
    texts: ['no room for more invitations'],
    detail: 'a node takes 65,536 codes in 1,024 batches, used and revoked ones included',
    reasons: [RejectReason.invitesFull],
  },
  PROFILE_NAME_SET: {
    status: 409,
    texts: ['the wallet has a display name'],
    detail: 'a display name is set once: send the same one, or hidden alone',
  },
  PROFILE_NAME_TAKEN: {
    status: 409,
    texts: ['another wallet has this display name'],
    detail: 'names differ in more than upper and lower case: choose another',
  },
  PROFILES_FULL: {
    status: 503,
    texts: ['the node has no room for more profiles'],
  },
  WALLET_FOREIGN: {
    status: 403,
    texts: ["the wallet is not the caller's"],
    detail:
      'wallet is the address of the API key, or a wallet that a factory of the node derives from it',
    reasons: [RejectReason.walletForeign],
  },
  // Agents.
  AGENT_INVALID: {
    status: 400,
    texts: ['agent must be another address than the wallet and its owner'],
    detail: 'make a key pair for the agent alone, and name its address',
    reasons: [RejectReason.agentInvalid],
  },
  AGENT_END_INVALID: {
    status: 400,
    texts: ['end must be a time of the next 366 days'],
    detail: 'end is in unix seconds, later than the time of the node; GET /time',
    reasons: [RejectReason.agentEndInvalid],
  },
  AGENTS_FULL: {
    status: 409,
    texts: ['no room for another agent'],
    detail:
      'a wallet has 8 agents, and a node 8192: revoke one that has paid nothing on this UTC day, or wait for the next',
    reasons: [RejectReason.agentsFull],
  },
  UNKNOWN_AGENT: {
    status: 404,
    texts: ['agent not found'],
    detail: 'GET /agents lists the agents of a wallet',
    reasons: [RejectReason.agentUnknown],
  },

  // Any request.
  INTERNAL_ERROR: {
    status: 500,
    texts: ['internal_error', 'internal_error: ', 'internal error'],
  },
  BAD_REQUEST: {
    status: 400,
    texts: ['bad request', 'q is required'],
    detail: 'a parameter breaks its rule: see /docs',
  },
  NOT_FOUND: {
    status: 404,
    texts: ['not found'],
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    texts: ['method not allowed'],
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    texts: ['payload too large'],
  },
  TOO_MANY_REQUESTS: {
    status: 429,
    texts: ['Too Many Requests'],
  },
  SHUTTING_DOWN: {
    status: 503,
    texts: ['shutting down'],
  },
  TOO_MANY_IN_FLIGHT: {
    status: 503,
    texts: [
      'too many answers in flight',
      'too many bodies in flight',
      'too many searches are waiting',
    ],
  },
  INVALID_PAYLOAD: {
    status: 400,
    texts: ['Invalid payload', 'invalid payload'],
    detail: 'the body is not what this route takes: see /docs',
  },
  PAYLOAD_EXCEEDS_LIMIT: {
    status: 400,
    texts: ['Payload exceeds the limit'],
    detail: 'send fewer items in one request',
  },
  UNKNOWN_FIELD: {
    status: 400,
    texts: ['unknown_field: '],
    detail: 'this route takes no such field: see /docs',
  },
  INVALID_FIELD: {
    status: 400,
    texts: ['invalid_field: ', 'invalid '],
    detail: 'the field breaks its rule: see /docs',
  },
  INVALID_CURSOR: {
    status: 400,
    texts: ['invalid next_cursor'],
    detail: 'pass next_cursor of the page before, or none for the first page; LTE= ends the pages',
  },

  // Reads.
  INVALID_TOKEN_ID: {
    status: 400,
    texts: ['Invalid token id'],
    detail: 'name a token as decimal digits in token_id',
  },
  INVALID_SIDE: {
    status: 400,
    texts: ['Invalid side'],
    detail: 'side is BUY or SELL',
  },
  INVALID_ASSET_TYPE: {
    status: 400,
    texts: ['Invalid asset type'],
    detail: 'asset_type is COLLATERAL or CONDITIONAL',
  },
  INVALID_SIGNATURE_TYPE: {
    status: 400,
    texts: ['Invalid signature type'],
    detail: 'signature_type is 0, 1, 2 or 3',
  },
  UNKNOWN_BOOK: {
    status: 404,
    texts: ['No orderbook exists for the requested token id'],
  },
  UNKNOWN_MARKET: {
    status: 404,
    texts: ['market not found'],
  },
  UNKNOWN_ORDER: {
    status: 404,
    texts: ['order not found'],
  },
  UNKNOWN_ID: {
    status: 404,
    texts: ['id not found'],
  },
  UNKNOWN_SLUG: {
    status: 404,
    texts: ['slug not found'],
  },
  NO_LIQUIDITY: {
    status: 404,
    texts: ['No liquidity for the requested side'],
  },
  NO_MIDPOINT: {
    status: 404,
    texts: ['No midpoint for the requested token id'],
  },
  NO_SPREAD: {
    status: 404,
    texts: ['No spread for the requested token id'],
  },
  NO_TRADES: {
    status: 404,
    texts: ['No trades found for the requested token id'],
  },
  MARKET_REQUIRED: {
    status: 400,
    texts: ['market is required'],
    detail: 'market is the id of a token',
  },
  INVALID_WINDOW: {
    status: 400,
    texts: [
      'interval or startTs is required',
      'interval cannot be combined with startTs or endTs',
      'startTs must not be after endTs',
    ],
    detail: 'give interval, or startTs with or without endTs, in unix seconds',
  },
  BEING_DERIVED: {
    status: 503,
    texts: [
      'positions are being derived',
      'price history is being made again',
      'statements are being derived',
      'rebates are being derived',
    ],
  },

  // Heartbeats and streams.
  INVALID_HEARTBEAT: {
    status: 400,
    texts: ['invalid heartbeat_id'],
    detail: 'heartbeat_id is that of the last answer, which this one names',
  },
  TOO_MANY_HEARTBEATS: {
    status: 503,
    texts: ['too many heartbeats'],
  },
  UPGRADE_REQUIRED: {
    status: 426,
    texts: ['websocket upgrade required'],
  },
  TOO_MANY_CONNECTIONS: {
    status: 503,
    texts: ['too many stream connections', 'too many stream connections of this address'],
  },
  INVALID_MESSAGE: {
    texts: ['invalid_message'],
    detail: 'server/streams/README.md has the messages that a stream takes',
  },
  TOO_MANY_SUBSCRIPTIONS: {
    texts: ['too_many_subscriptions'],
    detail: 'open another connection for more',
  },
  RESUME_UNAVAILABLE: {
    texts: ['resume_unavailable'],
    detail: 'the events since then are gone: subscribe anew and read the books',
  },

  // Operators.
  UNKNOWN_KEY: {
    status: 404,
    texts: ['key not found'],
  },
  INVALID_BODY: {
    status: 400,
    texts: ['invalid body'],
    detail: 'the body must be a JSON object',
  },
  AUDIT_LOG_UNAVAILABLE: {
    status: 503,
    texts: ['audit log unavailable'],
  },
  ORDERS_NOT_CANCELED: {
    status: 503,
    texts: ['not all orders are canceled'],
  },
  RATE_LIMITS_OFF: {
    status: 409,
    texts: ['rate limits are off'],
  },
  FAULTS_OFF: {
    status: 409,
    texts: ['faults are off'],
  },
  TOO_MANY_FAULTS: {
    status: 409,
    texts: ['too many faults'],
  },
  UNKNOWN_FAULT: {
    status: 404,
    texts: ['fault not found'],
  },
  NOT_IN_A_CLUSTER: {
    status: 409,
    texts: ['this does not hold in a cluster'],
  },
  INVALID_LIMIT: {
    status: 400,
    texts: ['invalid limit'],
    detail: 'requests/seconds such as 400/10, or off, of a row that GET /rate-limits names',
  },
  FOREIGN_KEYS: {
    status: 409,
    texts: ['the keys come from another node.key or CHAIN_ID'],
  },
  TOO_MANY_BANS: {
    status: 409,
    texts: ['too many wallets are banned'],
  },
  TOO_MANY_NAMES: {
    status: 409,
    texts: ['too many wallets have names'],
  },
  NAME_TAKEN: {
    status: 409,
    texts: ['name is taken'],
  },
  SLUG_OF_SEVERAL: {
    status: 409,
    texts: ['slug is that of several'],
  },
  NEEDS_RUNNING_NODE: {
    status: 409,
    texts: ['this needs a running node'],
  },
  CLOCK_NOT_IN_DOUBT: {
    status: 409,
    texts: ['the clock is not in doubt'],
  },
  UNKNOWN_EVENT: {
    status: 404,
    texts: ['event not found'],
  },
  IMPORTED_EVENT: {
    status: 409,
    texts: ['the event comes from an import'],
  },
  MADE_OTHERWISE: {
    status: 409,
    texts: ['there is an event of this title', 'there is a market of this question'],
  },
  MARKET_CLOSED: {
    status: 409,
    texts: ['the market is closed', NOT_READY],
    detail: 'the operator has closed the market: it takes no orders again',
  },
  FIXED_MEMBER: {
    status: 409,
    texts: ['outcomes cannot be changed', 'event cannot be changed', 'negRisk cannot be changed'],
  },
  COARSER_TICK: {
    status: 409,
    texts: ['tick cannot become coarser while orders rest'],
  },
  NO_GROUP: {
    status: 409,
    texts: ['the event of the market is not in the catalog'],
  },
  NO_BOOK: {
    status: 400,
    texts: ['the market would have no book'],
    detail: 'its tick or minimum is none',
  },
  CATALOG_CONFLICT: {
    status: 409,
    texts: ['the catalog refuses it'],
  },
  CATALOG_NOT_CHANGED: {
    status: 503,
    texts: ['the catalog cannot be changed'],
  },
  CATALOG_BEHIND: {
    status: 409,
    texts: ['the market resolves, and the catalog does not say so yet'],
  },
  UNAUTHORIZED: {
    status: 401,
    texts: ['unauthorized'],
    detail: 'send Authorization: Bearer with ADMIN_TOKEN of the node',
  },
  FORBIDDEN: {
    status: 403,
    texts: ['forbidden'],
  },
  MISDIRECTED: {
    status: 421,
    texts: ['misdirected request'],
  },
} as const satisfies Readonly<Record<string, RefusalRow>>;

export type RefusalCode = keyof typeof REFUSALS;

export function refusalOf(code: RefusalCode): Refusal {
  return REFUSALS[code];
}

/** @internal The reference of the API is compared with it. */
export function textsOf(code: RefusalCode): readonly string[] {
  const { profileText, texts } = refusalOf(code);
  return profileText === undefined ? texts : [...texts, profileText];
}

/** A reject reason of the engine in the words of clients. */
export interface Reject {
  readonly code: RefusalCode;
  /** Status of a request that consists of the refused command alone. */
  readonly status: 400 | 403 | 404 | 409 | 503;
  readonly text: string;
  readonly profileText: string;
  readonly detail: string;
}

export const REJECTS = Object.fromEntries(
  (Object.keys(REFUSALS) as RefusalCode[]).flatMap((code) => {
    const {
      byReason,
      detail = '',
      profileText,
      reasons = [],
      status = 400,
      texts,
    } = refusalOf(code);
    return reasons.map((reason) => {
      const own = byReason?.[reason];
      const text = own?.text ?? texts[0];
      return [
        reason,
        {
          code,
          status: own?.status ?? status,
          text,
          profileText: profileText ?? text,
          detail: own?.detail ?? detail,
        },
      ];
    });
  }),
) as Readonly<Record<RejectNumber, Reject>>;

/** Members of some refusals beside `detail`, for programs: all are texts. */
export const REFUSAL_FACTS = {
  needed: 'NOT_ENOUGH_BALANCE, AGENT_CASH: a decimal, collateral or shares',
  free: 'NOT_ENOUGH_BALANCE: what is not reserved of it',
  reserved: 'NOT_ENOUGH_BALANCE: what open orders reserve of it',
  left: 'AGENT_CASH: what the agent may still spend on the day',
  heartbeat_id: 'INVALID_HEARTBEAT: the present one',
  error_msg: 'INVALID_HEARTBEAT: its text, with HEARTBEAT_ERROR=error_msg',
  call: 'of a refused batch: index of the call that is the reason, from 0',
  recovered:
    'INVALID_SIGNATURE, INVALID_BATCH_SIGNATURE, INVALID_L1: the address that made the signature, over what was sent',
  fits: 'INVALID_SIGNATURE: with what the signature would be that of the signer',
} as const;
