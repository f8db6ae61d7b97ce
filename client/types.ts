/**
 * Generated from the schemas of the node's table of routes and of its streams: `npm run client:types`
 * writes it anew, and a test holds it up to date.
 */

export interface AgentAnswer {
  readonly wallet: string;
  readonly agent: string;
  readonly state: 'active' | 'ended' | 'revoked';
  readonly cashPerDay: string;
  readonly maxOrderSize: string;
  readonly markets: 'all' | readonly string[];
  readonly end: number;
  readonly spent: string;
  readonly reserved: string;
  readonly left: string;
  readonly openOrders: number;
  readonly createdAt: string;
}

export interface AgentBody {
  readonly agent: string;
  readonly wallet?: string;
  readonly cashPerDay: string;
  readonly maxOrderSize: string;
  readonly markets: 'all' | readonly string[];
  readonly end: number;
}

export interface AgentsAnswer {
  readonly data: readonly AgentAnswer[];
  readonly next_cursor: string;
  readonly limit: 100;
  readonly count: number;
}

export interface AnswerEvent {
  readonly event_type: 'answer';
  readonly op: 'order' | 'cancel' | 'replace';
  readonly id: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: OrderResult | CancelAnswer | ReplaceAnswer | {
    readonly error: string;
    readonly detail?: string;
    readonly code?: string;
  };
}

export interface BalanceAnswer {
  readonly balance: string;
  readonly allowances: Readonly<Record<string, string>>;
}

export interface BalanceEvent {
  readonly event_type: 'balance';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly wallet: string;
  readonly asset_type: 'COLLATERAL' | 'CONDITIONAL';
  readonly token_id: string;
  readonly total: string;
  readonly reserved: string;
  readonly free: string;
}

export interface BatchHistoryAnswer {
  readonly history: Readonly<Record<string, readonly {
    readonly t: number;
    readonly p: number;
  }[]>>;
}

export interface BatchHistoryBody {
  readonly markets: readonly string[];
  readonly interval?: '5m' | '15m' | '1h' | '6h' | '1d' | '1w' | '1m' | 'max' | 'all';
  readonly startTs?: number;
  readonly endTs?: number;
  readonly fidelity?: number;
  readonly start_ts?: number;
  readonly end_ts?: number;
}

export interface BestBidAskEvent {
  readonly event_type: 'best_bid_ask';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly asset_id: string;
  readonly best_bid: string;
  readonly best_ask: string;
  readonly spread: string;
}

export interface BiggestWinner {
  readonly win_rank: number;
  readonly kind: 'market';
  readonly user_id: string;
  readonly pnl: number;
  readonly initial_value: number;
  readonly final_value: number;
  readonly resolved_at: number;
  readonly condition_id: string;
  readonly position_id: string;
  readonly event_id: number;
  readonly event_slug: string;
  readonly event_title: string;
  readonly user_name: string;
  readonly profile_image: string;
}

export interface BookAnswer {
  readonly market: string;
  readonly asset_id: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly bids: readonly {
    readonly price: string;
    readonly size: string;
  }[];
  readonly asks: readonly {
    readonly price: string;
    readonly size: string;
  }[];
  readonly min_order_size: string;
  readonly tick_size: string;
  readonly neg_risk: boolean;
  readonly last_trade_price: string | '';
}

export interface BookEvent {
  readonly event_type: 'book';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly asset_id: string;
  readonly hash: string;
  readonly bids: readonly {
    readonly price: string;
    readonly size: string;
  }[];
  readonly asks: readonly {
    readonly price: string;
    readonly size: string;
  }[];
  readonly min_order_size: string;
  readonly tick_size: string;
  readonly neg_risk: boolean;
  readonly last_trade_price: string;
}

export interface BrierRow {
  readonly rank: number;
  readonly user_id: string;
  readonly brier: number;
  readonly markets: number;
  readonly shares: number;
  readonly user_name: string;
}

export interface CancelAnswer {
  readonly canceled: readonly string[];
  readonly not_canceled: Readonly<Record<string, string>>;
  readonly filled: Readonly<Record<string, string>>;
  readonly detail?: string;
  readonly code?: string;
}

export interface CancelMarket {
  readonly market?: string | null;
  readonly asset_id?: string | null;
  readonly assetId?: string | null;
}

export interface CancelOrder {
  readonly orderID?: string;
  readonly orderId?: string;
}

export interface ClosedOnlyAnswer {
  readonly closed_only: boolean;
  readonly closedOnly: boolean;
}

export interface DataActivity {
  readonly proxy_wallet: string;
  readonly token_id: string;
  readonly condition_id: string;
  readonly size: number;
  readonly price: number;
  readonly timestamp: number;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  readonly event_slug: string;
  readonly outcome: string;
  readonly outcome_index: number;
  readonly name: string;
  readonly pseudonym: string;
  readonly bio: string;
  readonly profile_image: string;
  readonly profile_image_optimized: string;
  readonly transaction_hash: string;
  readonly side: 'BUY' | 'SELL' | '';
  readonly usdc_size: number;
  readonly type: 'TRADE' | 'SPLIT' | 'MERGE' | 'REDEEM' | 'REWARD' | 'CONVERSION' | 'MIGRATION' | 'MAKER_REBATE' | 'TAKER_REBATE' | 'REFERRAL_REWARD' | 'YIELD' | 'DEPOSIT' | 'WITHDRAWAL' | 'TIP';
}

export interface DataApprovals {
  readonly address: string;
  readonly chain_id: number;
  readonly checked_at: string;
  readonly contracts: readonly {
    readonly id: string;
    readonly feature: string;
    readonly token: string;
    readonly spender: string;
    readonly standard: 'ERC20' | 'ERC1155';
    readonly amount?: 'max';
    readonly approved: boolean;
  }[];
}

export interface DataHolders {
  readonly token_id: string;
  readonly holders: readonly {
    readonly proxy_wallet: string;
    readonly token_id: string;
    readonly amount: number;
    readonly outcome_index: number;
    readonly name: string;
    readonly pseudonym: string;
    readonly bio: string;
    readonly profile_image: string;
    readonly profile_image_optimized: string;
    readonly display_username_public: boolean;
    readonly verified: boolean;
    readonly avg_price?: number;
    readonly entry_cost_usdc?: number;
    readonly current_price?: number;
    readonly current_value?: number;
    readonly realized_pnl?: number;
    readonly unrealized_pnl?: number;
    readonly total_pnl?: number;
  }[];
}

export interface DataLiveVolume {
  readonly taker_volume_total: number;
  readonly conditions: readonly {
    readonly condition_id: string;
    readonly taker_volume: number;
  }[];
}

export interface DataPosition {
  readonly proxy_wallet: string;
  readonly token_id: string;
  readonly condition_id: string;
  readonly current_size: number;
  readonly avg_price: number;
  readonly entry_cost_usdc: number;
  readonly current_price: number;
  readonly current_value: number;
  readonly realized_pnl: number;
  readonly unrealized_pnl: number;
  readonly total_pnl: number;
  readonly entry_fees_usdc: number;
  readonly total_cost_usdc: number;
  readonly total_size: number;
  readonly percent_pnl: number;
  readonly percent_realized_pnl: number;
  readonly status: 'OPEN' | 'REDEEMABLE' | 'REDEEMABLE_LOST' | 'MERGEABLE' | 'CLOSED';
  readonly redeemable: boolean;
  readonly mergeable: boolean;
  readonly negative_risk: boolean;
  readonly archived: boolean;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  readonly event_slug: string;
  readonly outcome: string;
  readonly outcome_index: number;
  readonly event_id: string;
  readonly opposite_outcome: string;
  readonly opposite_token_id: string;
  readonly end_date: string;
  readonly last_event_at: number;
  readonly first_entry_at: number;
  readonly name: string;
  readonly profile_image: string;
  readonly verified: boolean;
}

export interface DataPricePoint {
  readonly timestamp: number;
  readonly price: number;
  readonly resolution_seconds: number;
}

export interface DataStatus {
  readonly computed_at: string;
  readonly age_seconds: number;
  readonly serving: {
    readonly lag_seconds: number;
    readonly worst: string;
    readonly mechanisms: readonly {
      readonly name: string;
      readonly age_seconds: number;
    }[];
  };
  readonly ingestion: {
    readonly cursors: number;
    readonly chain_id: number;
    readonly max_synced_block: number;
    readonly lagging: readonly unknown[];
  };
}

export interface DataTrade {
  readonly proxy_wallet: string;
  readonly token_id: string;
  readonly condition_id: string;
  readonly size: number;
  readonly price: number;
  readonly timestamp: number;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  readonly event_slug: string;
  readonly outcome: string;
  readonly outcome_index: number;
  readonly name: string;
  readonly pseudonym: string;
  readonly bio: string;
  readonly profile_image: string;
  readonly profile_image_optimized: string;
  readonly transaction_hash: string;
  readonly side: 'BUY' | 'SELL';
}

export interface EventAnswer {
  readonly id: string;
  readonly ticker: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly resolutionSource: string;
  readonly startDate: string | null;
  readonly creationDate: string | null;
  readonly endDate: string | null;
  readonly image: string;
  readonly icon: string;
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly volume: number;
  readonly volume24hr: number;
  readonly liquidity: number;
  readonly version?: 'v1' | 'v2';
  readonly tags: readonly TagAnswer[];
}

export interface EventsKeysetAnswer {
  readonly events: readonly {
    readonly id: string;
    readonly ticker: string;
    readonly slug: string;
    readonly title: string;
    readonly description: string;
    readonly resolutionSource: string;
    readonly startDate: string | null;
    readonly creationDate: string | null;
    readonly endDate: string | null;
    readonly image: string;
    readonly icon: string;
    readonly active: boolean;
    readonly closed: boolean;
    readonly archived: boolean;
    readonly createdAt: string | null;
    readonly updatedAt: string | null;
    readonly volume: number;
    readonly volume24hr: number;
    readonly liquidity: number;
    readonly version?: 'v1' | 'v2';
    readonly tags: readonly TagAnswer[];
    readonly markets: readonly {
      readonly id: string;
      readonly question: string;
      readonly conditionId: string;
      readonly slug: string;
      readonly resolutionSource: string;
      readonly startDate: string | null;
      readonly endDate: string | null;
      readonly image: string;
      readonly icon: string;
      readonly description: string;
      readonly outcomes: string;
      readonly clobTokenIds: string;
      readonly active: boolean;
      readonly closed: boolean;
      readonly archived: boolean;
      readonly createdAt: string | null;
      readonly updatedAt: string | null;
      readonly questionID: string;
      readonly negRisk: boolean;
      readonly orderPriceMinTickSize: number;
      readonly orderMinSize: number;
      readonly acceptingOrders: boolean;
      readonly enableOrderBook: boolean;
      readonly creator: string;
      readonly volume: string;
      readonly volumeNum: number;
      readonly volume24hr: number;
      readonly liquidity: string;
      readonly liquidityNum: number;
      readonly outcomePrices: string;
      readonly bestBid: number;
      readonly bestAsk: number;
      readonly spread: number;
      readonly lastTradePrice: number;
      readonly version?: 'v1' | 'v2';
      readonly positionIds?: readonly string[];
      readonly feesEnabled?: boolean;
      readonly feeType?: string;
      readonly feeSchedule?: Readonly<Record<string, unknown>>;
      readonly sportsMarketType?: string;
      readonly line?: number;
      readonly gameStartTime?: string;
      readonly groupItemTitle?: string;
      readonly closedTime?: string | null;
      readonly umaResolutionStatus?: 'resolved' | 'proposed';
      readonly resolutionNote?: string;
      readonly umaEndDate?: string;
      readonly proposedPrices?: string;
    }[];
  }[];
  readonly next_cursor?: string;
}

export interface ExchangeInfoAnswer {
  readonly version: string;
  readonly server_time: number;
  readonly venue: string;
  readonly chain_id: number;
  readonly domain: {
    readonly name: string;
    readonly version: string;
  };
  readonly exchange_address: string;
  readonly neg_risk_exchange_address: string;
  readonly order_versions?: readonly number[];
  readonly exchange_address_2?: string;
  readonly neg_risk_exchange_address_2?: string;
  readonly exchange_address_3?: string;
  readonly credential_prefix: string;
  readonly auth_skew_seconds: number;
  readonly durability: 'flushed' | 'committed';
  readonly verify_signatures: boolean;
  readonly max_batch_orders: number;
  readonly max_batch_tokens: number;
  readonly max_body_bytes: {
    readonly orders: number;
    readonly other: number;
  };
  readonly rate_limits: readonly {
    readonly name: string;
    readonly covers: string;
    readonly requests: number;
    readonly seconds: number;
  }[];
  readonly mode: {
    readonly ledger: boolean;
    readonly demo: boolean;
    readonly mirror: boolean;
    readonly play: boolean;
    readonly invites: boolean;
    readonly cluster: boolean;
  };
}

export interface ExplainAnswer {
  readonly accepted: boolean;
  readonly errorMsg: string;
  readonly detail: string;
  readonly needed?: string;
  readonly free?: string;
  readonly reserved?: string;
  readonly recovered?: string;
  readonly fits?: string;
  readonly code?: string;
  readonly orderID: string;
  readonly domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
    readonly verifyingContract: string;
  };
  readonly negRisk: boolean;
  readonly signatureType: number;
  readonly signature: {
    readonly recovered: string;
    readonly by: string;
    readonly fits: string;
    readonly tried: readonly string[];
  };
}

export interface FeeRateAnswer {
  readonly base_fee: number;
}

export interface HeartbeatAnswer {
  readonly heartbeat_id: string;
}

export interface HeartbeatBody {
  readonly heartbeat_id?: string | null;
}

export interface HeartbeatOkAnswer {
  readonly status: 'ok';
}

export interface HistoryAnswer {
  readonly history: readonly {
    readonly t: number;
    readonly p: number;
  }[];
}

export interface LastPriceAnswer {
  readonly price: string;
  readonly side: 'BUY' | 'SELL' | '';
}

export interface LastTradePriceEvent {
  readonly event_type: 'last_trade_price';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly asset_id: string;
  readonly price: string;
  readonly side: 'BUY' | 'SELL';
  readonly size: string;
  readonly fee_rate_bps: string;
}

export interface LeaderboardRow {
  readonly rank: number;
  readonly user_id: string;
  readonly pnl: number;
  readonly volume: number;
  readonly user_name: string;
  readonly profile_image: string;
  readonly x_username: string;
  readonly verified: boolean;
}

export interface LedgerBalanceAnswer {
  readonly cash: {
    readonly total: string;
    readonly reserved: string;
    readonly free: string;
  };
  readonly positions: readonly {
    readonly token_id: string;
    readonly total: string;
    readonly reserved: string;
    readonly free: string;
  }[];
}

export interface LiquidityMarket {
  readonly condition: string;
  readonly slug: string;
  readonly wallet: string;
  readonly state: 'quoted' | 'halted' | 'removed' | 'ended' | 'resolved';
  readonly paid_in: string;
  readonly paid_out: string;
  readonly cash: string;
  readonly orders: number;
  readonly outcomes: readonly {
    readonly outcome: string;
    readonly shares: string;
    readonly price: string | null;
    readonly result: string;
  }[];
}

export interface MarketAnswer {
  readonly id: string;
  readonly question: string;
  readonly conditionId: string;
  readonly slug: string;
  readonly resolutionSource: string;
  readonly startDate: string | null;
  readonly endDate: string | null;
  readonly image: string;
  readonly icon: string;
  readonly description: string;
  readonly outcomes: string;
  readonly clobTokenIds: string;
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly questionID: string;
  readonly negRisk: boolean;
  readonly orderPriceMinTickSize: number;
  readonly orderMinSize: number;
  readonly acceptingOrders: boolean;
  readonly enableOrderBook: boolean;
  readonly creator: string;
  readonly volume: string;
  readonly volumeNum: number;
  readonly volume24hr: number;
  readonly liquidity: string;
  readonly liquidityNum: number;
  readonly outcomePrices: string;
  readonly bestBid: number;
  readonly bestAsk: number;
  readonly spread: number;
  readonly lastTradePrice: number;
  readonly version?: 'v1' | 'v2';
  readonly positionIds?: readonly string[];
  readonly feesEnabled?: boolean;
  readonly feeType?: string;
  readonly feeSchedule?: Readonly<Record<string, unknown>>;
  readonly sportsMarketType?: string;
  readonly line?: number;
  readonly gameStartTime?: string;
  readonly groupItemTitle?: string;
  readonly closedTime?: string | null;
  readonly umaResolutionStatus?: 'resolved' | 'proposed';
  readonly resolutionNote?: string;
  readonly umaEndDate?: string;
  readonly proposedPrices?: string;
  readonly events: readonly {
    readonly id: string;
    readonly ticker: string;
    readonly slug: string;
    readonly title: string;
  }[];
}

export interface MarketErrorEvent {
  readonly error: 'invalid_message' | 'invalid_auth' | 'too_many_subscriptions' | 'resume_unavailable';
  readonly detail: string;
  readonly code?: string;
  readonly stream_id?: string;
  readonly sequence?: string;
}

export interface MarketOfTokenAnswer {
  readonly condition_id: string;
  readonly primary_token_id: string;
  readonly secondary_token_id: string;
}

export interface MarketResolvedEvent {
  readonly event_type: 'market_resolved';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly id: string;
  readonly assets_ids: readonly string[];
  readonly outcomes: readonly string[];
  readonly payouts: readonly number[];
  readonly payout_sum: number;
  readonly is_void: boolean;
  readonly winning_asset_id: string;
  readonly winning_outcome: string;
}

export interface MarketSubscriptionEvent {
  readonly event_type: 'subscription';
  readonly operation: 'subscribe' | 'unsubscribe';
  readonly known: string;
  readonly unknown: readonly string[];
  readonly unknown_count: string;
  readonly following: string;
  readonly server_ts_ms: string;
}

export interface MarketsKeysetAnswer {
  readonly markets: readonly MarketAnswer[];
  readonly next_cursor?: string;
}

export interface MidpointAnswer {
  readonly mid: string;
}

export interface NegRiskAnswer {
  readonly neg_risk: boolean;
}

export interface NewMarketEvent {
  readonly event_type: 'new_market';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly id: string;
  readonly condition_id: string;
  readonly question: string;
  readonly slug: string;
  readonly description: string;
  readonly active: boolean;
  readonly assets_ids: readonly string[];
  readonly clob_token_ids: readonly string[];
  readonly outcomes: readonly string[];
  readonly order_price_min_tick_size: string;
  readonly taker_base_fee: string;
  readonly fees_enabled?: boolean;
  readonly fee_schedule?: Readonly<Record<string, unknown>>;
  readonly sports_market_type?: string;
  readonly line?: string;
  readonly game_start_time?: string;
  readonly group_item_title?: string;
  readonly event_message: {
    readonly id: string;
    readonly ticker: string;
    readonly slug: string;
    readonly title: string;
    readonly description: string;
  };
}

export interface OrderEvent {
  readonly event_type: 'order';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly asset_id: string;
  readonly id: string;
  readonly outcome: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
  readonly original_size: string;
  readonly size_matched: string;
  readonly owner: string;
  readonly order_owner: string;
  readonly associate_trades: readonly string[] | null;
  readonly type: 'PLACEMENT' | 'UPDATE' | 'CANCELLATION';
  readonly status: 'LIVE' | 'MATCHED' | 'CANCELED' | 'DELAYED' | 'UNMATCHED';
  readonly order_type: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly maker_address: string;
  readonly expiration: string;
  readonly created_at: string;
  readonly reason?: string;
}

export interface OrderItemShape {
  readonly order: {
    readonly tokenId: string;
    readonly conditionId: string;
    readonly maker: string;
    readonly signer: string;
    readonly makerAmount: string;
    readonly takerAmount: string;
    readonly side: 'BUY' | 'SELL';
    readonly expiration?: string | number;
    readonly salt: string | number;
    readonly signatureType: number;
    readonly signature: string;
    readonly taker: string;
    readonly nonce: string | number;
    readonly feeRateBps: string | number;
  };
  readonly orderType: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly postOnly?: boolean;
  readonly owner: string;
}

export interface OrderResult {
  readonly success: boolean;
  readonly errorMsg: string;
  readonly orderID: string;
  readonly takingAmount: string;
  readonly makingAmount: string;
  readonly status: string;
  readonly tradeIDs?: readonly string[];
  readonly detail?: string;
  readonly code?: string;
  readonly needed?: string;
  readonly free?: string;
  readonly reserved?: string;
  readonly recovered?: string;
  readonly fits?: string;
}

export interface OwnOrderAnswer {
  readonly id: string;
  readonly status: 'live' | 'matched' | 'canceled' | 'delayed' | 'LIVE' | 'MATCHED' | 'CANCELED' | 'DELAYED';
  readonly reason: string;
  readonly market: string;
  readonly asset_id: string;
  readonly outcome: string;
  readonly owner: string;
  readonly maker_address: string;
  readonly side: 'BUY' | 'SELL';
  readonly original_size: string;
  readonly size_matched: string;
  readonly price: string;
  readonly order_type: string;
  readonly expiration: string;
  readonly associate_trades: readonly string[];
  readonly created_at: number;
}

export interface OwnOrdersAnswer {
  readonly data: readonly OwnOrderAnswer[];
  readonly next_cursor: string;
  readonly limit: 100;
  readonly count: number;
}

export interface OwnTradesAnswer {
  readonly data: readonly {
    readonly id: string;
    readonly taker_order_id: string;
    readonly market: string;
    readonly asset_id: string;
    readonly outcome: string;
    readonly side: 'BUY' | 'SELL';
    readonly size: string;
    readonly fee_rate_bps: string;
    readonly price: string;
    readonly status: 'CONFIRMED' | 'RETRYING' | 'FAILED';
    readonly match_time: string;
    readonly last_update: string;
    readonly bucket_index: number;
    readonly owner: string;
    readonly maker_address: string;
    readonly transaction_hash: string;
    readonly trader_side: 'TAKER' | 'MAKER';
    readonly type: string;
    readonly maker_orders: readonly {
      readonly order_id: string;
      readonly owner: string;
      readonly maker_address: string;
      readonly matched_amount: string;
      readonly price: string;
      readonly fee_rate_bps: string;
      readonly asset_id: string;
      readonly outcome: string;
      readonly side: 'BUY' | 'SELL';
    }[];
  }[];
  readonly next_cursor: string;
  readonly limit: 100;
  readonly count: number;
}

export interface PortfolioValue {
  readonly proxy_wallet: string;
  readonly value: number;
}

export interface PreviewAnswer {
  readonly sequence: string;
  readonly wallet: string;
  readonly wouldBe: 'live' | 'matched' | 'unmatched' | 'delayed' | 'refused';
  readonly reason: null | {
    readonly code: string;
    readonly words: string;
    readonly needed?: string;
    readonly free?: string;
    readonly reserved?: string;
    readonly left?: string;
  };
  readonly filled: string;
  readonly averagePrice: string;
  readonly worstPrice: string;
  readonly cost: string;
  readonly fee: string;
  readonly feeIn: 'collateral' | 'shares';
  readonly shares: string;
  readonly total: string;
  readonly payoutIfRight: string;
  readonly profitIfRight: string;
  readonly lossIfWrong: string;
  readonly rest: {
    readonly size: string;
    readonly fate: 'rests' | 'ends' | 'none';
    readonly price: string;
    readonly cost: string;
  };
  readonly ifAllFills: {
    readonly total: string;
    readonly payoutIfRight: string;
    readonly profitIfRight: string;
    readonly lossIfWrong: string;
  };
  readonly order: null | {
    readonly tokenId: string;
    readonly conditionId: string;
    readonly negRisk: boolean;
    readonly side: 'BUY' | 'SELL';
    readonly orderType: 'GTC' | 'GTD' | 'FOK' | 'FAK';
    readonly postOnly: boolean;
    readonly expiration: number;
    readonly price: string;
    readonly size: string;
    readonly makerAmount: string;
    readonly takerAmount: string;
    readonly feeRateBps: number;
  };
  readonly walked: {
    readonly levels: number;
    readonly orders: number;
    readonly isWhole: boolean;
  };
}

export interface PreviewBody {
  readonly tokenId: string;
  readonly side: 'BUY' | 'SELL';
  readonly orderType: 'GTC' | 'GTD' | 'FOK' | 'FAK';
  readonly amount?: string;
  readonly size?: string;
  readonly price?: string;
  readonly postOnly?: boolean;
  readonly expiration?: number;
  readonly signatureType?: number;
  readonly wallet?: string;
}

export interface PriceAnswer {
  readonly price: string;
}

export interface PriceChangeEvent {
  readonly event_type: 'price_change';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly price_changes: readonly {
    readonly asset_id: string;
    readonly price: string;
    readonly size: string;
    readonly side: 'BUY' | 'SELL';
    readonly hash: string;
    readonly best_bid: string;
    readonly best_ask: string;
  }[];
}

export interface ProfileAnswer {
  readonly wallet: string;
  readonly name: string;
  readonly hidden: boolean;
}

export interface ProfileBody {
  readonly name?: string;
  readonly hidden?: boolean;
  readonly wallet?: string;
}

export interface PublicProfileAnswer {
  readonly proxyWallet: string;
  readonly name: string;
  readonly pseudonym: string;
  readonly bio: string;
  readonly profileImage: string;
  readonly displayUsernamePublic: boolean;
}

export interface RateLimitsAnswer {
  readonly enabled: boolean;
  readonly counted_by: 'address';
  readonly limits: readonly ({
    readonly name: string;
    readonly covers: string;
    readonly requests: number;
    readonly seconds: number;
  } & {
    readonly applies: boolean;
    readonly default: {
      readonly requests: number;
      readonly seconds: number;
    };
  })[];
}

export interface ReadOnlyKeyAnswer {
  readonly apiKey: string;
}

export interface ReadOnlyKeyBody {
  readonly key: string;
}

export interface ReadOnlyKeysAnswer {
  readonly readonlyApiKeys: readonly string[];
}

export interface ReadyAnswer {
  readonly status: 'ready';
}

export interface ReplaceAnswer {
  readonly cancel: CancelAnswer;
  readonly order: OrderResult | null;
}

export interface ResumedEvent {
  readonly event_type: 'resumed';
  readonly stream_id: string;
  readonly sequence: string;
  readonly missed: string;
}

export interface RevokeAgentBody {
  readonly agent: string;
  readonly wallet?: string;
}

export interface RevokedAnswer {
  readonly revoked: true;
}

export interface SamplingAnswer {
  readonly data: readonly {
    readonly condition_id: string;
    readonly status: 'active' | 'paused' | 'closed';
    readonly neg_risk: boolean;
    readonly market_id: number;
    readonly question: string;
    readonly slug: string;
    readonly assets_ids: readonly string[];
    readonly outcomes: readonly string[];
    readonly description: string;
    readonly event: {
      readonly id: string;
      readonly slug: string;
      readonly title: string;
      readonly ticker: string;
      readonly description: string;
    };
    readonly raw_metadata: Readonly<Record<string, unknown>>;
  }[];
  readonly next_cursor: string;
}

export interface SearchAnswer {
  readonly events: readonly EventAnswer[];
  readonly tags: readonly {
    readonly id: string;
    readonly label: string;
    readonly slug: string;
    readonly event_count: number;
  }[];
  readonly pagination: {
    readonly hasMore: boolean;
    readonly totalResults: number;
  };
}

export interface SeriesAnswer {
  readonly id: string;
  readonly ticker: string;
  readonly slug: string;
  readonly title: string;
  readonly seriesType: string;
  readonly recurrence: string;
  readonly image: string;
  readonly icon: string;
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly events: readonly {
    readonly id: string;
    readonly ticker: string;
    readonly slug: string;
    readonly title: string;
    readonly description: string;
    readonly resolutionSource: string;
    readonly startDate: string | null;
    readonly creationDate: string | null;
    readonly endDate: string | null;
    readonly image: string;
    readonly icon: string;
    readonly active: boolean;
    readonly closed: boolean;
    readonly archived: boolean;
    readonly createdAt: string | null;
    readonly updatedAt: string | null;
    readonly volume: number;
    readonly volume24hr: number;
    readonly liquidity: number;
    readonly version?: 'v1' | 'v2';
  }[];
}

export interface SetsAnswer {
  readonly id: string;
  readonly conditionId: string;
  readonly amount: string;
  readonly cash: string;
  readonly timestamp: string;
}

export interface SetsBody {
  readonly conditionId: string;
  readonly amount: string;
  readonly id: string;
}

export interface ShortTradingMarketsAnswer {
  readonly data: readonly {
    readonly condition_id: string;
    readonly tokens: readonly {
      readonly token_id: string;
      readonly outcome: string;
      readonly price: number;
      readonly winner: boolean;
    }[];
    readonly rewards: {
      readonly rates: null;
      readonly min_size: number;
      readonly max_spread: number;
    };
    readonly active: boolean;
    readonly closed: boolean;
    readonly archived: boolean;
    readonly accepting_orders: boolean;
  }[];
  readonly next_cursor: string;
  readonly limit: number;
  readonly count: number;
}

export interface SimplifiedSamplingAnswer {
  readonly data: readonly {
    readonly condition_id: string;
    readonly status: 'active' | 'paused' | 'closed';
    readonly neg_risk: boolean;
    readonly market_id: number;
    readonly question: string;
    readonly slug: string;
    readonly assets_ids: readonly string[];
    readonly outcomes: readonly string[];
  }[];
  readonly next_cursor: string;
}

export interface SpreadAnswer {
  readonly spread: string;
}

export interface StatusAnswer {
  readonly status: 'ok' | 'read-only';
  readonly paused: readonly {
    readonly reason: 'directory' | 'log' | 'follower' | 'files' | 'etcd' | 'secret' | 'empty-log' | 'operator' | 'clock' | 'catch-up' | 'no-leader' | 'unreachable' | 'leader' | 'clock-skew';
    readonly means: string;
    readonly takes_cancels: boolean;
  }[];
  readonly clock: {
    readonly jump_ms: number;
    readonly log_ahead_ms: number;
  };
  readonly log: {
    readonly sequence: number;
    readonly digest: number;
  };
  readonly follower: {
    readonly sequence: number;
    readonly behind: number;
    readonly behind_ms: number;
  } | null;
  readonly image: {
    readonly sequence: number;
    readonly age_seconds: number;
  } | null;
  readonly cluster: {
    readonly node: string;
    readonly role: 'leader' | 'follower';
    readonly leader: string | null;
    readonly epoch: number;
    readonly applied: number;
    readonly behind_ms: number;
    readonly catalog: string | null;
    readonly catalog_missing: string | null;
  } | null;
  readonly signatures: string;
  readonly contradictions: {
    readonly catalog: number;
    readonly sync: number;
    readonly mirror: number;
    readonly markets: readonly {
      readonly source: 'catalog' | 'sync' | 'mirror';
      readonly market: string;
      readonly reason: 'tokens' | 'condition' | 'negRisk' | 'names';
      readonly means: string;
    }[];
  };
  readonly mirror?: {
    readonly source: string;
    readonly connected: boolean;
    readonly books: {
      readonly live: number;
      readonly in_doubt: number;
      readonly paused: number;
      readonly absent: number;
      readonly left_out: number;
    };
    readonly left_out: readonly string[];
    readonly troubled: readonly {
      readonly market: string;
      readonly reason: 'starting' | 'disconnected' | 'silent' | 'gap' | 'damaged' | 'time' | 'hash' | 'crossed' | 'tick' | 'behind' | 'refused';
      readonly means: string;
      readonly paused: boolean;
      readonly since_ms: number;
    }[];
  };
  readonly play?: {
    readonly time: number;
    readonly speed: number;
    readonly ended: boolean;
  };
  readonly proposals?: {
    readonly count: number;
    readonly next: string | null;
  };
  readonly faults?: readonly {
    readonly id: string;
    readonly kind: 'disabled' | 'restart' | 'cancel-only' | 'rate-limit' | 'lost-answer' | 'taker-delay' | 'settlement-failed' | 'delay' | 'stale-book' | 'clock-skew' | 'stream-frozen' | 'stream-closed' | 'stream-gap' | 'stream-repeat';
    readonly of: 'venue' | 'market' | 'wallet' | 'key';
    readonly phase: string;
    readonly ends: string | null;
  }[];
  readonly key_faults?: readonly {
    readonly kind: 'disabled' | 'restart' | 'cancel-only' | 'rate-limit' | 'lost-answer' | 'taker-delay' | 'settlement-failed' | 'delay' | 'stale-book' | 'clock-skew' | 'stream-frozen' | 'stream-closed' | 'stream-gap' | 'stream-repeat';
    readonly count: number;
  }[];
  readonly mode: {
    readonly ledger: boolean;
    readonly demo: boolean;
    readonly mirror: boolean;
    readonly play: boolean;
    readonly invites: boolean;
    readonly cluster: boolean;
  };
  readonly message?: {
    readonly text: string;
    readonly since: string;
  };
}

export interface TagAnswer {
  readonly id: string;
  readonly label: string;
  readonly slug: string;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly requiresTranslation: boolean;
}

export interface TickSizeAnswer {
  readonly minimum_tick_size: number;
}

export interface TickSizeChangeEvent {
  readonly event_type: 'tick_size_change';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly asset_id: string;
  readonly old_tick_size: string;
  readonly new_tick_size: string;
  readonly side: 'BUY' | 'SELL';
}

export interface TokenItem {
  readonly token_id: string;
  readonly side?: 'BUY' | 'SELL' | '' | null;
}

export interface TradeEvent {
  readonly event_type: 'trade';
  readonly stream_id: string;
  readonly sequence: string;
  readonly previous: string;
  readonly server_ts_ms: string;
  readonly timestamp: string;
  readonly market: string;
  readonly asset_id: string;
  readonly id: string;
  readonly type: 'TRADE';
  readonly status: 'MATCHED' | 'CONFIRMED' | 'RETRYING' | 'FAILED';
  readonly taker_order_id: string;
  readonly outcome: string;
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
  readonly size: string;
  readonly fee_rate_bps: string;
  readonly owner: string;
  readonly trade_owner: string;
  readonly maker_address: string;
  readonly trader_side: 'TAKER' | 'MAKER';
  readonly transaction_hash: string;
  readonly bucket_index: number;
  readonly matchtime: string;
  readonly match_time: string;
  readonly last_update: string;
  readonly maker_orders: readonly {
    readonly order_id: string;
    readonly owner: string;
    readonly maker_address: string;
    readonly asset_id: string;
    readonly outcome: string;
    readonly side: 'BUY' | 'SELL';
    readonly price: string;
    readonly matched_amount: string;
    readonly fee_rate_bps: string;
  }[];
}

export interface TradedAnswer {
  readonly user: string;
  readonly traded: number;
}

export interface TradingMarketAnswer {
  readonly condition_id: string;
  readonly tokens: readonly {
    readonly token_id: string;
    readonly outcome: string;
    readonly price: number;
    readonly winner: boolean;
  }[];
  readonly rewards: {
    readonly rates: null;
    readonly min_size: number;
    readonly max_spread: number;
  };
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
  readonly accepting_orders: boolean;
  readonly enable_order_book: boolean;
  readonly accepting_order_timestamp: null;
  readonly minimum_order_size: number;
  readonly minimum_tick_size: number;
  readonly question_id: string;
  readonly question: string;
  readonly description: string;
  readonly market_slug: string;
  readonly end_date_iso: string | null;
  readonly game_start_time: null;
  readonly seconds_delay: number;
  readonly fpmm: string;
  readonly maker_base_fee: number;
  readonly taker_base_fee: number;
  readonly notifications_enabled: boolean;
  readonly neg_risk: boolean;
  readonly neg_risk_market_id: string;
  readonly neg_risk_request_id: string;
  readonly icon: string;
  readonly image: string;
  readonly is_50_50_outcome: boolean;
  readonly tags: readonly string[];
}

export interface TradingMarketsAnswer {
  readonly data: readonly TradingMarketAnswer[];
  readonly next_cursor: string;
  readonly limit: number;
  readonly count: number;
}

export interface TradingTermsAnswer {
  readonly c: string;
  readonly t: readonly {
    readonly t: string;
    readonly o: string;
  }[];
  readonly mts: number;
  readonly mos: number;
  readonly nr: boolean;
  readonly mbf: number;
  readonly tbf: number;
  readonly itode?: boolean;
  readonly sd?: number;
  readonly fd: {
    readonly r: number;
    readonly e: number;
    readonly to: boolean;
  };
}

export interface TrioAnswer {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

export interface UserErrorEvent {
  readonly error: 'invalid_message' | 'invalid_auth' | 'too_many_subscriptions' | 'resume_unavailable';
  readonly detail: string;
  readonly code?: string;
  readonly stream_id?: string;
  readonly sequence?: string;
}

export interface UserPnl {
  readonly proxy_wallet: string;
  readonly interval: string;
  readonly fidelity: string;
  readonly source_fidelity: string;
  readonly points: readonly {
    readonly timestamp: number;
    readonly source_block: number;
    readonly realized_market_pnl: number;
    readonly realized_lp_pnl: number;
    readonly realized_combo_pnl: number;
    readonly realized_pnl: number;
    readonly volume: number;
    readonly volume_usdc: number;
    readonly trade_count: number;
  }[];
}

export interface UserSubscriptionEvent {
  readonly event_type: 'subscription';
  readonly operation: 'subscribe' | 'unsubscribe';
  readonly known: string;
  readonly unknown: readonly string[];
  readonly unknown_count: string;
  readonly following: string;
  readonly server_ts_ms: string;
}

export interface UserVolume {
  readonly volume: number;
  readonly volume_usdc: number;
  readonly trade_count: number;
}

export interface VersionAnswer {
  readonly version: 1 | 2;
}

export interface VolumesBody {
  readonly conditions: readonly {
    readonly condition_id: string;
    readonly token_ids?: readonly string[];
  }[];
  readonly include_24h?: boolean;
}

export interface WholeEventAnswer {
  readonly id: string;
  readonly ticker: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly resolutionSource: string;
  readonly startDate: string | null;
  readonly creationDate: string | null;
  readonly endDate: string | null;
  readonly image: string;
  readonly icon: string;
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  readonly volume: number;
  readonly volume24hr: number;
  readonly liquidity: number;
  readonly version?: 'v1' | 'v2';
  readonly tags: readonly TagAnswer[];
  readonly markets: readonly {
    readonly id: string;
    readonly question: string;
    readonly conditionId: string;
    readonly slug: string;
    readonly resolutionSource: string;
    readonly startDate: string | null;
    readonly endDate: string | null;
    readonly image: string;
    readonly icon: string;
    readonly description: string;
    readonly outcomes: string;
    readonly clobTokenIds: string;
    readonly active: boolean;
    readonly closed: boolean;
    readonly archived: boolean;
    readonly createdAt: string | null;
    readonly updatedAt: string | null;
    readonly questionID: string;
    readonly negRisk: boolean;
    readonly orderPriceMinTickSize: number;
    readonly orderMinSize: number;
    readonly acceptingOrders: boolean;
    readonly enableOrderBook: boolean;
    readonly creator: string;
    readonly volume: string;
    readonly volumeNum: number;
    readonly volume24hr: number;
    readonly liquidity: string;
    readonly liquidityNum: number;
    readonly outcomePrices: string;
    readonly bestBid: number;
    readonly bestAsk: number;
    readonly spread: number;
    readonly lastTradePrice: number;
    readonly version?: 'v1' | 'v2';
    readonly positionIds?: readonly string[];
    readonly feesEnabled?: boolean;
    readonly feeType?: string;
    readonly feeSchedule?: Readonly<Record<string, unknown>>;
    readonly sportsMarketType?: string;
    readonly line?: number;
    readonly gameStartTime?: string;
    readonly groupItemTitle?: string;
    readonly closedTime?: string | null;
    readonly umaResolutionStatus?: 'resolved' | 'proposed';
    readonly resolutionNote?: string;
    readonly umaEndDate?: string;
    readonly proposedPrices?: string;
  }[];
  readonly series: readonly {
    readonly id: string;
    readonly ticker: string;
    readonly slug: string;
    readonly title: string;
    readonly seriesType: string;
    readonly recurrence: string;
    readonly image: string;
    readonly icon: string;
    readonly active: boolean;
    readonly closed: boolean;
    readonly archived: boolean;
    readonly createdAt: string | null;
    readonly updatedAt: string | null;
  }[];
  readonly eventMetadata: Readonly<Record<string, unknown>>;
}

export type ActivityAnswer = readonly {
  readonly proxyWallet: string;
  readonly side: 'BUY' | 'SELL' | '';
  readonly asset: string;
  readonly token_id?: string;
  readonly conditionId: string;
  readonly size: number;
  readonly price: number;
  readonly timestamp: number;
  readonly usdcSize: number;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  readonly eventSlug: string;
  readonly outcome: string;
  readonly outcomeIndex: number;
  readonly name: string;
  readonly pseudonym: string;
  readonly bio: string;
  readonly profileImage: string;
  readonly profileImageOptimized: string;
  readonly transactionHash: string;
  readonly type: 'TRADE' | 'SPLIT' | 'MERGE' | 'REDEEM' | 'MAKER_REBATE';
}[];

export type BooksAnswer = readonly BookAnswer[];

export type DataOpenInterest = readonly {
  readonly condition_id: string;
  readonly value: number;
}[];

export type DataResolutions = readonly {
  readonly condition_id: string;
  readonly status: 'resolved' | 'proposed' | 'posed';
  readonly extended_review: false;
  readonly was_disputed: false;
  readonly new_version_q: false;
  readonly transaction_hash: '';
  readonly log_index: '';
  readonly last_update_timestamp: string;
  readonly payouts?: readonly number[];
  readonly resolution_source?: 'reported';
  readonly was_arbitrated?: false;
  readonly resolved_at?: string;
  readonly resolution_note?: string;
}[];

export type HoldersAnswer = readonly {
  readonly token: string;
  readonly holders: readonly {
    readonly proxyWallet: string;
    readonly asset: string;
    readonly amount: number;
    readonly outcomeIndex: number;
    readonly name: string;
    readonly pseudonym: string;
    readonly bio: string;
    readonly profileImage: string;
    readonly profileImageOptimized: string;
    readonly displayUsernamePublic: boolean;
  }[];
}[];

export type InterestAnswer = readonly {
  readonly market: string;
  readonly value: number;
}[];

export type LastPricesAnswer = readonly {
  readonly token_id: string;
  readonly price: string;
  readonly side: 'BUY' | 'SELL';
}[];

export type LeaderboardAnswer = readonly {
  readonly rank: string;
  readonly proxyWallet: string;
  readonly userName: string;
  readonly vol: number;
  readonly pnl: number;
  readonly profileImage: string;
  readonly xUsername: string;
  readonly verifiedBadge: boolean;
}[];

export type LiveVolumeAnswer = readonly {
  readonly total: number;
  readonly markets: readonly {
    readonly market: string;
    readonly value: number;
  }[];
}[];

export type MarketEvent =
  | BookEvent
  | PriceChangeEvent
  | LastTradePriceEvent
  | TickSizeChangeEvent
  | BestBidAskEvent
  | NewMarketEvent
  | MarketResolvedEvent
  | MarketSubscriptionEvent;
export type OrderItems = readonly OrderItemShape[];

export type OrderResults = readonly OrderResult[];

export type PositionsAnswer = readonly {
  readonly proxyWallet: string;
  readonly asset: string;
  readonly token_id?: string;
  readonly conditionId: string;
  readonly size: number;
  readonly avgPrice: number;
  readonly initialValue: number;
  readonly currentValue: number;
  readonly cashPnl: number;
  readonly percentPnl: number;
  readonly totalBought: number;
  readonly realizedPnl: number;
  readonly percentRealizedPnl: number;
  readonly curPrice: number;
  readonly redeemable: boolean;
  readonly mergeable: boolean;
  readonly timestamp: number;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  readonly eventSlug: string;
  readonly outcome: string;
  readonly outcomeIndex: number;
  readonly oppositeOutcome: string;
  readonly oppositeAsset: string;
  readonly endDate: string;
  readonly negativeRisk: boolean;
}[];

export type RelatedTagsAnswer = readonly {
  readonly id: string;
  readonly tagID: number;
  readonly relatedTagID: number;
  readonly rank: number;
}[];

export type TokenItems = readonly TokenItem[];

export type TradesAnswer = readonly {
  readonly proxyWallet: string;
  readonly side: 'BUY' | 'SELL';
  readonly asset: string;
  readonly token_id?: string;
  readonly conditionId: string;
  readonly size: number;
  readonly price: number;
  readonly timestamp: number;
  readonly usdcSize: number;
  readonly title: string;
  readonly slug: string;
  readonly icon: string;
  readonly eventSlug: string;
  readonly outcome: string;
  readonly outcomeIndex: number;
  readonly name: string;
  readonly pseudonym: string;
  readonly bio: string;
  readonly profileImage: string;
  readonly profileImageOptimized: string;
  readonly transactionHash: string;
}[];

export type UserEvent =
  | OrderEvent
  | TradeEvent
  | BalanceEvent
  | ResumedEvent
  | AnswerEvent
  | UserSubscriptionEvent;
export type ValueAnswer = readonly {
  readonly user: string;
  readonly value: number;
}[];

/** Codes of refusals, which never change. */
export const REFUSAL_CODES = [
  'OWNER_MISMATCH',
  'POST_ONLY_TYPE',
  'UNKNOWN_CONDITION',
  'UNKNOWN_TOKEN',
  'TOKEN_OF_OTHER_CONDITION',
  'TAKER_NOT_PUBLIC',
  'DUPLICATE_ORDER',
  'MARKET_NOT_READY',
  'MARKET_HALTED',
  'MARKET_PROPOSED',
  'MARKET_ENDED',
  'AMOUNT_NOT_POSITIVE',
  'EXPIRATION_PAST',
  'EXPIRATION_REQUIRED',
  'EXPIRATION_INVALID',
  'FEE_NEGATIVE',
  'FEE_BELOW_BASE',
  'FEE_TOO_HIGH',
  'SIZE_ABOVE_MAXIMUM',
  'TICK_SIZE',
  'SIZE_BELOW_MINIMUM',
  'INVALID_SIGNATURE',
  'TOO_MANY_OPEN_ORDERS',
  'EXPOSURE_TOO_HIGH',
  'AGENT_ENDED',
  'AGENT_MARKET',
  'AGENT_ORDER_SIZE',
  'AGENT_CASH',
  'TOO_MANY_DELAYED_ORDERS',
  'NO_ROOM',
  'POST_ONLY_CROSSES',
  'FOK_NOT_FILLED',
  'FAK_NOT_FILLED',
  'SELF_TRADE',
  'ORDER_NOT_OPEN',
  'ADDRESS_BANNED',
  'MARKET_NOT_CHANGED',
  'NOT_ENOUGH_BALANCE',
  'LEDGER_OFF',
  'ID_REPEATED',
  'ID_CONFLICT',
  'ID_TOO_OLD',
  'ID_INVALID',
  'IDS_FULL',
  'AMOUNT_INVALID',
  'DEPOSITS_TOO_LARGE',
  'UNKNOWN_WALLET',
  'WALLET_SIGNS',
  'SIGNER_HAS_ORDERS',
  'MARKET_NOT_REGISTERED',
  'MARKET_RESOLVED',
  'PAYOUT_INVALID',
  'GROUP_HAS_WINNER',
  'PROPOSAL_PENDING',
  'REVIEW_INVALID',
  'NO_PROPOSAL',
  'SEASON_BUSY',
  'SEASON_ENDING',
  'NOT_BINARY',
  'SOURCE_CROSSED',
  'INVALID_ORDER_PAYLOAD',
  'ORDER_VERSION_MISMATCH',
  'TOO_MANY_ORDERS',
  'ENGINE_BUSY',
  'TRADING_PAUSED',
  'TRADING_DISABLED',
  'VENUE_RESTARTING',
  'POST_ONLY_MODE',
  'JOURNAL_UNAVAILABLE',
  'OUTCOME_UNKNOWN',
  'NOT_LEADING',
  'NOT_APPLIED_YET',
  'INVALID_L1',
  'INVALID_L2',
  'INVALID_AUTH',
  'INVALID_KEY',
  'ADDRESS_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'UNKNOWN_API_KEY',
  'TOO_MANY_API_KEYS',
  'NONCE_MISMATCH',
  'MARKET_UNRESOLVED',
  'INVALID_BATCH_SIGNATURE',
  'BATCH_EXPIRED',
  'WALLET_NOT_DEPLOYED',
  'UNKNOWN_CALL',
  'INVALID_CALL',
  'UNKNOWN_SEASON',
  'UNKNOWN_TRANSACTION',
  'INVITATION_REQUIRED',
  'INVITATION_UNKNOWN',
  'INVITATION_REDEEMED',
  'WALLET_INVITED',
  'INVITATIONS_FULL',
  'PROFILE_NAME_SET',
  'PROFILE_NAME_TAKEN',
  'PROFILES_FULL',
  'WALLET_FOREIGN',
  'AGENT_INVALID',
  'AGENT_END_INVALID',
  'AGENTS_FULL',
  'UNKNOWN_AGENT',
  'INTERNAL_ERROR',
  'BAD_REQUEST',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'TOO_MANY_REQUESTS',
  'SHUTTING_DOWN',
  'TOO_MANY_IN_FLIGHT',
  'INVALID_PAYLOAD',
  'PAYLOAD_EXCEEDS_LIMIT',
  'UNKNOWN_FIELD',
  'INVALID_FIELD',
  'INVALID_CURSOR',
  'INVALID_TOKEN_ID',
  'INVALID_SIDE',
  'INVALID_ASSET_TYPE',
  'INVALID_SIGNATURE_TYPE',
  'UNKNOWN_BOOK',
  'UNKNOWN_MARKET',
  'UNKNOWN_ORDER',
  'UNKNOWN_ID',
  'UNKNOWN_SLUG',
  'NO_LIQUIDITY',
  'NO_MIDPOINT',
  'NO_SPREAD',
  'NO_TRADES',
  'MARKET_REQUIRED',
  'INVALID_WINDOW',
  'BEING_DERIVED',
  'INVALID_HEARTBEAT',
  'TOO_MANY_HEARTBEATS',
  'UPGRADE_REQUIRED',
  'TOO_MANY_CONNECTIONS',
  'INVALID_MESSAGE',
  'TOO_MANY_SUBSCRIPTIONS',
  'RESUME_UNAVAILABLE',
  'UNKNOWN_KEY',
  'INVALID_BODY',
  'AUDIT_LOG_UNAVAILABLE',
  'ORDERS_NOT_CANCELED',
  'RATE_LIMITS_OFF',
  'FAULTS_OFF',
  'TOO_MANY_FAULTS',
  'UNKNOWN_FAULT',
  'NOT_IN_A_CLUSTER',
  'INVALID_LIMIT',
  'FOREIGN_KEYS',
  'TOO_MANY_BANS',
  'TOO_MANY_NAMES',
  'NAME_TAKEN',
  'SLUG_OF_SEVERAL',
  'NEEDS_RUNNING_NODE',
  'CLOCK_NOT_IN_DOUBT',
  'UNKNOWN_EVENT',
  'IMPORTED_EVENT',
  'MADE_OTHERWISE',
  'MARKET_CLOSED',
  'FIXED_MEMBER',
  'COARSER_TICK',
  'NO_GROUP',
  'NO_BOOK',
  'CATALOG_CONFLICT',
  'CATALOG_NOT_CHANGED',
  'CATALOG_BEHIND',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'MISDIRECTED',
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** Codes by the whole text of a refusal. */
export const CODE_BY_TEXT: ReadonlyMap<string, RefusalCode> = new Map([
  ['owner_address_mismatch', 'OWNER_MISMATCH'],
  ['postOnly requires GTC or GTD', 'POST_ONLY_TYPE'],
  ['condition is not registered', 'UNKNOWN_CONDITION'],
  ['token is not registered', 'UNKNOWN_TOKEN'],
  ['tokenId not found for conditionId lookup', 'TOKEN_OF_OTHER_CONDITION'],
  ['taker must be the zero address', 'TAKER_NOT_PUBLIC'],
  ["order is invalid. Duplicated. Same order has already been placed, can't be placed again", 'DUPLICATE_ORDER'],
  ['the market is not yet ready to process new orders', 'MARKET_NOT_READY'],
  ['the market has ended', 'MARKET_ENDED'],
  ['makerAmount and takerAmount must be positive', 'AMOUNT_NOT_POSITIVE'],
  ['expiration must be in the future', 'EXPIRATION_PAST'],
  ['expiration is required', 'EXPIRATION_REQUIRED'],
  ['invalid expiration', 'EXPIRATION_INVALID'],
  ['feeRateBps must be non-negative', 'FEE_NEGATIVE'],
  ['feeRateBps must be >= exchangeBaseFeeRate', 'FEE_BELOW_BASE'],
  ['feeRateBps must be <= 1000', 'FEE_TOO_HIGH'],
  ['order is invalid. Size higher than the maximum', 'SIZE_ABOVE_MAXIMUM'],
  ['order is invalid. Price breaks minimum tick size rules', 'TICK_SIZE'],
  ['order is invalid. Size lower than the minimum', 'SIZE_BELOW_MINIMUM'],
  ['invalid order signature', 'INVALID_SIGNATURE'],
  ['invalid order signature: signatures of session keys are not taken', 'INVALID_SIGNATURE'],
  ['too many open orders', 'TOO_MANY_OPEN_ORDERS'],
  ['exposure of the wallet would be too high', 'EXPOSURE_TOO_HIGH'],
  ['the agent is not authorised any more', 'AGENT_ENDED'],
  ['the agent may not trade this market', 'AGENT_MARKET'],
  ['the order is larger than the agent may place', 'AGENT_ORDER_SIZE'],
  ['the cash of the agent for this day does not suffice', 'AGENT_CASH'],
  ['too many delayed orders', 'TOO_MANY_DELAYED_ORDERS'],
  ['could not insert order', 'NO_ROOM'],
  ['postOnly would cross the best ask', 'POST_ONLY_CROSSES'],
  ['postOnly would cross the best bid', 'POST_ONLY_CROSSES'],
  ["order couldn't be fully filled, FOK orders are fully filled/killed", 'FOK_NOT_FILLED'],
  ['no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.', 'FAK_NOT_FILLED'],
  ['self trade prevented', 'SELF_TRADE'],
  ["order can't be found - already canceled or matched", 'ORDER_NOT_OPEN'],
  ['address banned', 'ADDRESS_BANNED'],
  ['market is already registered or cannot be changed so', 'MARKET_NOT_CHANGED'],
  ['not enough balance / allowance', 'NOT_ENOUGH_BALANCE'],
  ['this node has no ledger', 'LEDGER_OFF'],
  ['id was used before, with the same body', 'ID_REPEATED'],
  ['id was used before, with another body', 'ID_CONFLICT'],
  ['id is older than the oldest that is kept', 'ID_TOO_OLD'],
  ['id must begin with unix milliseconds, at most 300 s ahead', 'ID_INVALID'],
  ['id must be a text of 1 to 128 printable characters', 'ID_INVALID'],
  ['no room for another id without unix milliseconds', 'IDS_FULL'],
  ['amount must be a whole number of micro-units from 1 to 2^53 - 1', 'AMOUNT_INVALID'],
  ['deposits less withdrawals would exceed 2^52 micro-units', 'DEPOSITS_TOO_LARGE'],
  ['wallet is not known', 'UNKNOWN_WALLET'],
  ['wallet has signed for itself', 'WALLET_SIGNS'],
  ['the signer before has too many open orders: cancel them first', 'SIGNER_HAS_ORDERS'],
  ['market is not registered', 'MARKET_NOT_REGISTERED'],
  ['market has resolved', 'MARKET_RESOLVED'],
  ['payout must be a whole number for each outcome, with a sum from 1 to 10000; all equal if void', 'PAYOUT_INVALID'],
  ['another market of the group has resolved to its first outcome', 'GROUP_HAS_WINNER'],
  ['a payout of the market is proposed', 'PROPOSAL_PENDING'],
  ['review must be a time of at most 365 days', 'REVIEW_INVALID'],
  ['no payout of the market is proposed', 'NO_PROPOSAL'],
  ['the season cannot end yet', 'SEASON_BUSY'],
  ['a season ends: nothing is traded or paid until balances are reset', 'SEASON_ENDING'],
  ['market has not two outcomes', 'NOT_BINARY'],
  ['the level would meet one of the source on the other side', 'SOURCE_CROSSED'],
  ['Invalid order payload', 'INVALID_ORDER_PAYLOAD'],
  ['order_version_mismatch', 'ORDER_VERSION_MISMATCH'],
  ['engine busy', 'ENGINE_BUSY'],
  ['Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.', 'TRADING_PAUSED'],
  ['Trading is currently disabled. Check polymarket.com for updates', 'TRADING_DISABLED'],
  ['the matching engine is restarting', 'VENUE_RESTARTING'],
  ['post-only mode: only post-only orders and cancels are allowed', 'POST_ONLY_MODE'],
  ['journal unavailable', 'JOURNAL_UNAVAILABLE'],
  ['outcome unknown, ask by id', 'OUTCOME_UNKNOWN'],
  ['this node of the cluster does not lead', 'NOT_LEADING'],
  ['this node has not applied X-Min-Sequence yet', 'NOT_APPLIED_YET'],
  ['invalid_auth', 'INVALID_AUTH'],
  ['invalid key', 'INVALID_KEY'],
  ['unauthorized: ip_not_allowlisted', 'ADDRESS_NOT_ALLOWED'],
  ['origin not allowed', 'ORIGIN_NOT_ALLOWED'],
  ['API key not found', 'UNKNOWN_API_KEY'],
  ['too many API keys', 'TOO_MANY_API_KEYS'],
  ['too many read-only keys', 'TOO_MANY_API_KEYS'],
  ['market has not resolved', 'MARKET_UNRESOLVED'],
  ['invalid batch signature', 'INVALID_BATCH_SIGNATURE'],
  ['batch deadline is past', 'BATCH_EXPIRED'],
  ['wallet is not deployed', 'WALLET_NOT_DEPLOYED'],
  ['call is not known', 'UNKNOWN_CALL'],
  ['invalid call', 'INVALID_CALL'],
  ['season not found', 'UNKNOWN_SEASON'],
  ['transaction not found', 'UNKNOWN_TRANSACTION'],
  ['this venue is for invited people: redeem an invitation first', 'INVITATION_REQUIRED'],
  ['invitation is not known', 'INVITATION_UNKNOWN'],
  ['invitation was redeemed', 'INVITATION_REDEEMED'],
  ['wallet has redeemed an invitation', 'WALLET_INVITED'],
  ['no room for more invitations', 'INVITATIONS_FULL'],
  ['the wallet has a display name', 'PROFILE_NAME_SET'],
  ['another wallet has this display name', 'PROFILE_NAME_TAKEN'],
  ['the node has no room for more profiles', 'PROFILES_FULL'],
  ["the wallet is not the caller's", 'WALLET_FOREIGN'],
  ['agent must be another address than the wallet and its owner', 'AGENT_INVALID'],
  ['end must be a time of the next 366 days', 'AGENT_END_INVALID'],
  ['no room for another agent', 'AGENTS_FULL'],
  ['agent not found', 'UNKNOWN_AGENT'],
  ['internal_error', 'INTERNAL_ERROR'],
  ['internal error', 'INTERNAL_ERROR'],
  ['bad request', 'BAD_REQUEST'],
  ['q is required', 'BAD_REQUEST'],
  ['not found', 'NOT_FOUND'],
  ['method not allowed', 'METHOD_NOT_ALLOWED'],
  ['payload too large', 'PAYLOAD_TOO_LARGE'],
  ['Too Many Requests', 'TOO_MANY_REQUESTS'],
  ['shutting down', 'SHUTTING_DOWN'],
  ['too many answers in flight', 'TOO_MANY_IN_FLIGHT'],
  ['too many bodies in flight', 'TOO_MANY_IN_FLIGHT'],
  ['too many searches are waiting', 'TOO_MANY_IN_FLIGHT'],
  ['Invalid payload', 'INVALID_PAYLOAD'],
  ['invalid payload', 'INVALID_PAYLOAD'],
  ['Payload exceeds the limit', 'PAYLOAD_EXCEEDS_LIMIT'],
  ['invalid next_cursor', 'INVALID_CURSOR'],
  ['Invalid token id', 'INVALID_TOKEN_ID'],
  ['Invalid side', 'INVALID_SIDE'],
  ['Invalid asset type', 'INVALID_ASSET_TYPE'],
  ['Invalid signature type', 'INVALID_SIGNATURE_TYPE'],
  ['No orderbook exists for the requested token id', 'UNKNOWN_BOOK'],
  ['market not found', 'UNKNOWN_MARKET'],
  ['order not found', 'UNKNOWN_ORDER'],
  ['id not found', 'UNKNOWN_ID'],
  ['slug not found', 'UNKNOWN_SLUG'],
  ['No liquidity for the requested side', 'NO_LIQUIDITY'],
  ['No midpoint for the requested token id', 'NO_MIDPOINT'],
  ['No spread for the requested token id', 'NO_SPREAD'],
  ['No trades found for the requested token id', 'NO_TRADES'],
  ['market is required', 'MARKET_REQUIRED'],
  ['interval or startTs is required', 'INVALID_WINDOW'],
  ['interval cannot be combined with startTs or endTs', 'INVALID_WINDOW'],
  ['startTs must not be after endTs', 'INVALID_WINDOW'],
  ['positions are being derived', 'BEING_DERIVED'],
  ['price history is being made again', 'BEING_DERIVED'],
  ['statements are being derived', 'BEING_DERIVED'],
  ['rebates are being derived', 'BEING_DERIVED'],
  ['invalid heartbeat_id', 'INVALID_HEARTBEAT'],
  ['too many heartbeats', 'TOO_MANY_HEARTBEATS'],
  ['websocket upgrade required', 'UPGRADE_REQUIRED'],
  ['too many stream connections', 'TOO_MANY_CONNECTIONS'],
  ['too many stream connections of this address', 'TOO_MANY_CONNECTIONS'],
  ['invalid_message', 'INVALID_MESSAGE'],
  ['too_many_subscriptions', 'TOO_MANY_SUBSCRIPTIONS'],
  ['resume_unavailable', 'RESUME_UNAVAILABLE'],
  ['key not found', 'UNKNOWN_KEY'],
  ['invalid body', 'INVALID_BODY'],
  ['audit log unavailable', 'AUDIT_LOG_UNAVAILABLE'],
  ['not all orders are canceled', 'ORDERS_NOT_CANCELED'],
  ['rate limits are off', 'RATE_LIMITS_OFF'],
  ['faults are off', 'FAULTS_OFF'],
  ['too many faults', 'TOO_MANY_FAULTS'],
  ['fault not found', 'UNKNOWN_FAULT'],
  ['this does not hold in a cluster', 'NOT_IN_A_CLUSTER'],
  ['invalid limit', 'INVALID_LIMIT'],
  ['the keys come from another node.key or CHAIN_ID', 'FOREIGN_KEYS'],
  ['too many wallets are banned', 'TOO_MANY_BANS'],
  ['too many wallets have names', 'TOO_MANY_NAMES'],
  ['name is taken', 'NAME_TAKEN'],
  ['slug is that of several', 'SLUG_OF_SEVERAL'],
  ['this needs a running node', 'NEEDS_RUNNING_NODE'],
  ['the clock is not in doubt', 'CLOCK_NOT_IN_DOUBT'],
  ['event not found', 'UNKNOWN_EVENT'],
  ['the event comes from an import', 'IMPORTED_EVENT'],
  ['there is an event of this title', 'MADE_OTHERWISE'],
  ['there is a market of this question', 'MADE_OTHERWISE'],
  ['the market is closed', 'MARKET_CLOSED'],
  ['outcomes cannot be changed', 'FIXED_MEMBER'],
  ['event cannot be changed', 'FIXED_MEMBER'],
  ['negRisk cannot be changed', 'FIXED_MEMBER'],
  ['tick cannot become coarser while orders rest', 'COARSER_TICK'],
  ['the event of the market is not in the catalog', 'NO_GROUP'],
  ['the market would have no book', 'NO_BOOK'],
  ['the catalog refuses it', 'CATALOG_CONFLICT'],
  ['the catalog cannot be changed', 'CATALOG_NOT_CHANGED'],
  ['the market resolves, and the catalog does not say so yet', 'CATALOG_BEHIND'],
  ['unauthorized', 'UNAUTHORIZED'],
  ['forbidden', 'FORBIDDEN'],
  ['misdirected request', 'MISDIRECTED'],
  ['invalid post-only order: order crosses book', 'POST_ONLY_CROSSES'],
  ["order couldn't be fully filled. FOK orders are fully filled or killed.", 'FOK_NOT_FILLED'],
]);

/** Codes by the beginning of a text, where the rest varies. */
export const CODE_BY_BEGINNING: ReadonlyMap<string, RefusalCode> = new Map([
  ['Too many orders in payload: ', 'TOO_MANY_ORDERS'],
  ['Too many orders in payload, max allowed: ', 'TOO_MANY_ORDERS'],
  ['invalid_l1: ', 'INVALID_L1'],
  ['invalid_l2: ', 'INVALID_L2'],
  ['batch nonce ', 'NONCE_MISMATCH'],
  ['internal_error: ', 'INTERNAL_ERROR'],
  ['unknown_field: ', 'UNKNOWN_FIELD'],
  ['invalid_field: ', 'INVALID_FIELD'],
  ['invalid ', 'INVALID_FIELD'],
]);

/** Query, body and answer of each route; path parameters stand in the query. */
export interface Routes {
  'GET /': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: 'OK';
  };
  'GET /ok': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: 'OK';
  };
  'GET /health': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: 'OK';
  };
  'GET /healthz': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: 'OK';
  };
  'GET /ready': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: ReadyAnswer;
  };
  'GET /status': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: StatusAnswer;
  };
  'GET /gamma/status': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: 'OK';
  };
  'GET /time': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: number;
  };
  'GET /version': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: VersionAnswer;
  };
  'GET /exchange-info': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: ExchangeInfoAnswer;
  };
  'GET /rate-limits': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: RateLimitsAnswer;
  };
  'POST /auth/api-key': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: TrioAnswer;
  };
  'GET /auth/derive-api-key': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: TrioAnswer;
  };
  'GET /auth/api-keys': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: readonly string[];
  };
  'DELETE /auth/api-key': {
    query: {
      readonly apiKey?: string;
    };
    body: undefined;
    answer: RevokedAnswer;
  };
  'DELETE /auth/derive-api-key': {
    query: {
      readonly apiKey?: string;
    };
    body: undefined;
    answer: RevokedAnswer;
  };
  'GET /auth/ban-status/closed-only': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: ClosedOnlyAnswer;
  };
  'POST /auth/readonly-api-key': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: ReadOnlyKeyAnswer;
  };
  'GET /auth/readonly-api-keys': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: ReadOnlyKeysAnswer;
  };
  'DELETE /auth/readonly-api-key': {
    query: Readonly<Record<string, unknown>>;
    body: ReadOnlyKeyBody;
    answer: 'OK';
  };
  'GET /auth/validate-readonly-api-key': {
    query: {
      readonly address: string;
      readonly key: string;
    };
    body: undefined;
    answer: 'valid';
  };
  'POST /invites/redeem': {
    query: Readonly<Record<string, unknown>>;
    body: {
      readonly code: string;
      readonly name?: string;
    };
    answer: {
      readonly apiKey: string;
      readonly secret: string;
      readonly passphrase: string;
      readonly cash: string;
      readonly name: string;
    };
  };
  'POST /order': {
    query: Readonly<Record<string, unknown>>;
    body: OrderItemShape;
    answer: OrderResult;
  };
  'POST /orders': {
    query: Readonly<Record<string, unknown>>;
    body: OrderItems;
    answer: OrderResults;
  };
  'POST /orders/explain': {
    query: Readonly<Record<string, unknown>>;
    body: OrderItemShape;
    answer: ExplainAnswer;
  };
  'POST /replace': {
    query: Readonly<Record<string, unknown>>;
    body: OrderItemShape & CancelOrder;
    answer: ReplaceAnswer;
  };
  'DELETE /order': {
    query: Readonly<Record<string, unknown>>;
    body: CancelOrder;
    answer: CancelAnswer;
  };
  'DELETE /orders': {
    query: Readonly<Record<string, unknown>>;
    body: readonly string[];
    answer: CancelAnswer;
  };
  'DELETE /cancel-all': {
    query: Readonly<Record<string, unknown>>;
    body: unknown;
    answer: CancelAnswer;
  };
  'DELETE /cancel-market-orders': {
    query: Readonly<Record<string, unknown>>;
    body: CancelMarket;
    answer: CancelAnswer;
  };
  'POST /orders/preview': {
    query: Readonly<Record<string, unknown>>;
    body: PreviewBody;
    answer: PreviewAnswer;
  };
  'POST /heartbeats': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: HeartbeatOkAnswer;
  };
  'POST /v1/heartbeats': {
    query: Readonly<Record<string, unknown>>;
    body: HeartbeatBody;
    answer: HeartbeatAnswer;
  };
  'GET /faults': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly faults: readonly {
        readonly id: string;
        readonly kind: 'disabled' | 'restart' | 'cancel-only' | 'rate-limit' | 'lost-answer' | 'taker-delay' | 'settlement-failed' | 'delay' | 'stale-book' | 'clock-skew' | 'stream-frozen' | 'stream-closed' | 'stream-gap' | 'stream-repeat';
        readonly by: 'operator' | 'key';
        readonly key?: string;
        readonly wallet?: string;
        readonly market?: string;
        readonly phase: string;
        readonly uses: number;
        readonly count: number | null;
        readonly probability: number;
        readonly seed: number;
        readonly ms: number;
        readonly since: string;
        readonly ends: string | null;
      }[];
    };
  };
  'POST /faults': {
    query: Readonly<Record<string, unknown>>;
    body: {
      readonly kind: 'disabled' | 'restart' | 'cancel-only' | 'rate-limit' | 'lost-answer' | 'taker-delay' | 'delay' | 'stream-frozen' | 'stream-closed' | 'stream-gap' | 'stream-repeat';
      readonly market?: string;
      readonly count?: number;
      readonly seconds?: number;
      readonly probability?: number;
      readonly seed?: number;
      readonly ms?: number;
    };
    answer: {
      readonly id: string;
      readonly kind: 'disabled' | 'restart' | 'cancel-only' | 'rate-limit' | 'lost-answer' | 'taker-delay' | 'settlement-failed' | 'delay' | 'stale-book' | 'clock-skew' | 'stream-frozen' | 'stream-closed' | 'stream-gap' | 'stream-repeat';
      readonly by: 'operator' | 'key';
      readonly key?: string;
      readonly wallet?: string;
      readonly market?: string;
      readonly phase: string;
      readonly uses: number;
      readonly count: number | null;
      readonly probability: number;
      readonly seed: number;
      readonly ms: number;
      readonly since: string;
      readonly ends: string | null;
    };
  };
  'DELETE /faults': {
    query: Readonly<Record<string, unknown>>;
    body: {
      readonly id?: string;
    };
    answer: {
      readonly cleared: number;
    };
  };
  'GET /data/order/:id': {
    query: {
      readonly id: string;
    };
    body: undefined;
    answer: OwnOrderAnswer;
  };
  'GET /data/orders': {
    query: {
      readonly id?: string;
      readonly market?: string;
      readonly asset_id?: string;
      readonly maker?: string;
      readonly maker_address?: string;
      readonly wallet?: string;
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: OwnOrdersAnswer;
  };
  'GET /data/trades': {
    query: {
      readonly id?: string;
      readonly market?: string;
      readonly asset_id?: string;
      readonly maker_address?: string;
      readonly taker?: string;
      readonly maker?: string;
      readonly before?: number;
      readonly after?: number;
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: OwnTradesAnswer;
  };
  'GET /ledger/statement': {
    query: {
      readonly limit?: number;
      readonly wallet?: string;
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly {
        readonly entry: number;
        readonly timestamp: number;
        readonly cause: 'DEPOSIT' | 'WITHDRAW' | 'SPLIT' | 'MERGE' | 'TRADE' | 'REDEEM' | 'FEES' | 'REBATE' | 'TRADE_FAILED' | 'SEASON';
        readonly condition_id: string;
        readonly token_id: string;
        readonly outcome: string;
        readonly cash: string;
        readonly shares: string;
        readonly cash_after: string;
        readonly shares_after: string;
        readonly reference: number;
      }[];
      readonly next_cursor: string;
      readonly limit: number;
      readonly count: number;
    };
  };
  'GET /balance-allowance': {
    query: {
      readonly asset_type: 'COLLATERAL' | 'CONDITIONAL' | 'CONDITIONAL-V2';
      readonly token_id?: string;
      readonly signature_type?: number;
      readonly wallet?: string;
    };
    body: undefined;
    answer: BalanceAnswer;
  };
  'GET /balance-allowance/update': {
    query: {
      readonly asset_type: 'COLLATERAL' | 'CONDITIONAL' | 'CONDITIONAL-V2';
      readonly token_id?: string;
      readonly signature_type?: number;
      readonly wallet?: string;
    };
    body: undefined;
    answer: BalanceAnswer;
  };
  'GET /ledger/balance': {
    query: {
      readonly wallet?: string;
    };
    body: undefined;
    answer: LedgerBalanceAnswer;
  };
  'POST /split': {
    query: Readonly<Record<string, unknown>>;
    body: SetsBody;
    answer: SetsAnswer;
  };
  'POST /merge': {
    query: Readonly<Record<string, unknown>>;
    body: SetsBody;
    answer: SetsAnswer;
  };
  'POST /agents': {
    query: Readonly<Record<string, unknown>>;
    body: AgentBody;
    answer: AgentAnswer;
  };
  'GET /agents': {
    query: {
      readonly wallet?: string;
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: AgentsAnswer;
  };
  'POST /agents/revoke': {
    query: Readonly<Record<string, unknown>>;
    body: RevokeAgentBody;
    answer: AgentAnswer;
  };
  'GET /deployed': {
    query: {
      readonly address: string;
      readonly type?: 'WALLET';
    };
    body: undefined;
    answer: {
      readonly deployed: boolean;
    };
  };
  'POST /submit': {
    query: Readonly<Record<string, unknown>>;
    body: {
      readonly type: 'WALLET-CREATE';
      readonly from: string;
      readonly to: string;
      readonly metadata?: string;
    } | {
      readonly type: 'WALLET';
      readonly from: string;
      readonly to: string;
      readonly metadata?: string;
      readonly nonce: string;
      readonly signature: string;
      readonly depositWalletParams: {
        readonly depositWallet: string;
        readonly deadline: string;
        readonly calls: readonly {
          readonly target: string;
          readonly value: '0';
          readonly data: string;
        }[];
      };
    } | {
      readonly type: 'SAFE-CREATE';
      readonly from: string;
      readonly to: string;
      readonly metadata?: string;
    } | {
      readonly type: 'SAFE';
      readonly from: string;
      readonly to: string;
      readonly metadata?: string;
      readonly nonce: string;
      readonly signature: string;
      readonly proxyWallet: string;
      readonly data: string;
      readonly value?: '0';
      readonly signatureParams: {
        readonly operation: '0' | '1';
        readonly safeTxnGas: '0';
        readonly baseGas: '0';
        readonly gasPrice: '0';
        readonly gasToken: string;
        readonly refundReceiver: string;
      };
    } | {
      readonly type: 'PROXY';
      readonly from: string;
      readonly to: string;
      readonly metadata?: string;
      readonly nonce: string;
      readonly signature: string;
      readonly proxyWallet: string;
      readonly data: string;
      readonly signatureParams: {
        readonly gasPrice: string;
        readonly gasLimit: string;
        readonly relayerFee: string;
        readonly relayHub: string;
        readonly relay: string;
      };
    };
    answer: {
      readonly transactionID: string;
      readonly transactionHash: string;
      readonly state: 'STATE_NEW';
    };
  };
  'GET /nonce': {
    query: {
      readonly address: string;
      readonly type: 'WALLET' | 'SAFE' | 'PROXY';
    };
    body: undefined;
    answer: {
      readonly nonce: string;
    };
  };
  'GET /relay-payload': {
    query: {
      readonly address: string;
      readonly type: 'WALLET' | 'SAFE' | 'PROXY';
    };
    body: undefined;
    answer: {
      readonly address: string;
      readonly nonce: string;
    };
  };
  'GET /v1/account/transactions/params': {
    query: {
      readonly address: string;
      readonly type: 'WALLET' | 'SAFE' | 'PROXY';
    };
    body: undefined;
    answer: {
      readonly address: string;
      readonly nonce: string;
    };
  };
  'GET /transaction': {
    query: {
      readonly id: string;
    };
    body: undefined;
    answer: readonly {
      readonly transactionID: string;
      readonly transactionHash: string;
      readonly proxyAddress: string;
      readonly nonce: string;
      readonly state: 'STATE_CONFIRMED';
    }[];
  };
  'GET /v1/account/transactions/:id': {
    query: {
      readonly id: string;
    };
    body: undefined;
    answer: {
      readonly transaction_id: string;
      readonly transaction_hash: string;
      readonly state: 'STATE_CONFIRMED';
      readonly error_msg: string;
    };
  };
  'GET /rebates/current': {
    query: {
      readonly date: string;
      readonly maker_address: string;
    };
    body: undefined;
    answer: readonly {
      readonly date: string;
      readonly condition_id: string;
      readonly asset_address: string;
      readonly maker_address: string;
      readonly rebated_fees_usdc: string;
    }[];
  };
  'GET /book': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: BookAnswer;
  };
  'GET /book/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: BookAnswer;
  };
  'POST /books': {
    query: Readonly<Record<string, unknown>>;
    body: TokenItems;
    answer: BooksAnswer;
  };
  'GET /price': {
    query: {
      readonly token_id: string;
      readonly side: 'BUY' | 'SELL';
    };
    body: undefined;
    answer: PriceAnswer;
  };
  'GET /price/:token_id': {
    query: {
      readonly token_id: string;
      readonly side: 'BUY' | 'SELL';
    };
    body: undefined;
    answer: PriceAnswer;
  };
  'POST /prices': {
    query: Readonly<Record<string, unknown>>;
    body: TokenItems;
    answer: Readonly<Record<string, {
      readonly BUY?: string;
      readonly SELL?: string;
    }>>;
  };
  'GET /midpoint': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: MidpointAnswer;
  };
  'GET /midpoint/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: MidpointAnswer;
  };
  'POST /midpoints': {
    query: Readonly<Record<string, unknown>>;
    body: TokenItems;
    answer: Readonly<Record<string, string>>;
  };
  'GET /spread': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: SpreadAnswer;
  };
  'GET /spread/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: SpreadAnswer;
  };
  'POST /spreads': {
    query: Readonly<Record<string, unknown>>;
    body: TokenItems;
    answer: Readonly<Record<string, string>>;
  };
  'GET /last-trade-price': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: LastPriceAnswer;
  };
  'GET /last-trade-price/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: LastPriceAnswer;
  };
  'POST /last-trades-prices': {
    query: Readonly<Record<string, unknown>>;
    body: TokenItems;
    answer: LastPricesAnswer;
  };
  'GET /tick-size': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: TickSizeAnswer;
  };
  'GET /tick-size/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: TickSizeAnswer;
  };
  'GET /neg-risk': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: NegRiskAnswer;
  };
  'GET /neg-risk/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: NegRiskAnswer;
  };
  'GET /fee-rate': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: FeeRateAnswer;
  };
  'GET /fee-rate/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: FeeRateAnswer;
  };
  'GET /prices-history': {
    query: {
      readonly market: string;
      readonly interval?: '5m' | '15m' | '1h' | '6h' | '1d' | '1w' | '1m' | 'max' | 'all';
      readonly startTs?: number;
      readonly endTs?: number;
      readonly fidelity?: number;
    };
    body: undefined;
    answer: HistoryAnswer;
  };
  'POST /batch-prices-history': {
    query: Readonly<Record<string, unknown>>;
    body: BatchHistoryBody;
    answer: BatchHistoryAnswer;
  };
  'POST /data/volumes': {
    query: Readonly<Record<string, unknown>>;
    body: VolumesBody;
    answer: readonly ({
      readonly condition_id: string;
      readonly status: 200;
      readonly volume: string;
      readonly volume_24h?: string;
    } | {
      readonly condition_id: string;
      readonly status: 404;
      readonly error: string;
    })[];
  };
  'GET /liquidity': {
    query: {
      readonly condition: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly LiquidityMarket[];
    };
  };
  'GET /trades': {
    query: {
      readonly limit?: number;
      readonly offset?: number;
      readonly takerOnly?: boolean;
      readonly filterType?: 'CASH' | 'TOKENS';
      readonly filterAmount?: number;
      readonly market?: string;
      readonly user?: string;
      readonly side?: 'BUY' | 'SELL';
    };
    body: undefined;
    answer: TradesAnswer;
  };
  'GET /openapi.json': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: Readonly<Record<string, unknown>>;
  };
  'GET /asyncapi.json': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: Readonly<Record<string, unknown>>;
  };
  'GET /docs': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: string;
  };
  'GET /docs/:file': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: string;
  };
  'POST /mcp': {
    query: {
      readonly wallet?: string;
    };
    body: {
      readonly jsonrpc: '2.0';
    };
    answer: {
      readonly jsonrpc: '2.0';
    };
  };
  'GET /activity': {
    query: {
      readonly user: string;
      readonly market?: string;
      readonly eventId?: string;
      readonly type?: string;
      readonly start?: number;
      readonly end?: number;
      readonly side?: 'BUY' | 'SELL';
      readonly limit?: number;
      readonly offset?: number;
      readonly sortBy?: 'TIMESTAMP' | 'TOKENS' | 'CASH';
      readonly sortDirection?: 'ASC' | 'DESC';
    };
    body: undefined;
    answer: ActivityAnswer;
  };
  'GET /positions': {
    query: {
      readonly user: string;
      readonly market?: string;
      readonly eventId?: string;
      readonly sizeThreshold?: number;
      readonly redeemable?: boolean;
      readonly mergeable?: boolean;
      readonly title?: string;
      readonly limit?: number;
      readonly offset?: number;
      readonly sortBy?: 'CURRENT' | 'INITIAL' | 'TOKENS' | 'CASHPNL' | 'PERCENTPNL' | 'TITLE' | 'RESOLVING' | 'PRICE' | 'AVGPRICE';
      readonly sortDirection?: 'ASC' | 'DESC';
    };
    body: undefined;
    answer: PositionsAnswer;
  };
  'GET /closed-positions': {
    query: {
      readonly user: string;
      readonly market?: string;
      readonly eventId?: string;
      readonly title?: string;
      readonly limit?: number;
      readonly offset?: number;
      readonly sortBy?: 'REALIZEDPNL' | 'TITLE' | 'PRICE' | 'AVGPRICE' | 'TIMESTAMP';
      readonly sortDirection?: 'ASC' | 'DESC';
    };
    body: undefined;
    answer: PositionsAnswer;
  };
  'GET /value': {
    query: {
      readonly user: string;
      readonly market?: string;
    };
    body: undefined;
    answer: ValueAnswer;
  };
  'GET /traded': {
    query: {
      readonly user: string;
    };
    body: undefined;
    answer: TradedAnswer;
  };
  'GET /holders': {
    query: {
      readonly market: string;
      readonly limit?: number;
      readonly minBalance?: number;
    };
    body: undefined;
    answer: HoldersAnswer;
  };
  'GET /oi': {
    query: {
      readonly market?: string;
    };
    body: undefined;
    answer: InterestAnswer;
  };
  'GET /live-volume': {
    query: {
      readonly id: string;
    };
    body: undefined;
    answer: LiveVolumeAnswer;
  };
  'GET /v1/leaderboard': {
    query: {
      readonly timePeriod?: 'DAY' | 'WEEK' | 'MONTH' | 'ALL' | 'SEASON';
      readonly orderBy?: 'PNL' | 'VOL';
      readonly category?: 'OVERALL' | 'POLITICS' | 'SPORTS' | 'CRYPTO' | 'CULTURE' | 'MENTIONS' | 'WEATHER' | 'ECONOMICS' | 'TECH' | 'FINANCE';
      readonly user?: string;
      readonly limit?: number;
      readonly offset?: number;
    };
    body: undefined;
    answer: LeaderboardAnswer;
  };
  'GET /v2/leaderboard': {
    query: {
      readonly time_period?: 'day' | 'week' | 'month' | 'all' | 'season';
      readonly timePeriod?: 'day' | 'week' | 'month' | 'all' | 'season';
      readonly category?: string;
      readonly sort_by?: 'PNL' | 'VOLUME';
      readonly sortBy?: 'PNL' | 'VOLUME';
      readonly user?: string;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly LeaderboardRow[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    } | {
      readonly data: {
        readonly rank_pnl: number | null;
        readonly rank_volume: number | null;
        readonly user_id: string;
        readonly pnl: number;
        readonly volume: number;
        readonly user_name: string;
        readonly profile_image: string;
        readonly x_username: string;
        readonly verified: boolean;
      } | null;
    };
  };
  'GET /v2/leaderboard/brier': {
    query: {
      readonly time_period?: 'day' | 'week' | 'month' | 'all' | 'season';
      readonly timePeriod?: 'day' | 'week' | 'month' | 'all' | 'season';
      readonly user?: string;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly BrierRow[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    } | {
      readonly data: {
        readonly rank: number | null;
        readonly user_id: string;
        readonly brier: number;
        readonly markets: number;
        readonly shares: number;
        readonly user_name: string;
      } | null;
    };
  };
  'GET /v2/user-stats': {
    query: {
      readonly user: string;
    };
    body: undefined;
    answer: {
      readonly data: {
        readonly proxy_wallet: string;
        readonly trades: number;
        readonly biggest_win: number;
        readonly views: number;
        readonly join_date: number | null;
        readonly all_time_pnl: {
          readonly timestamp: number;
          readonly source_block: number;
          readonly realized_market_pnl: number;
          readonly realized_lp_pnl: number;
          readonly realized_combo_pnl: number;
          readonly realized_pnl: number;
          readonly volume: number;
          readonly volume_usdc: number;
          readonly trade_count: number;
        } | null;
      } | null;
    };
  };
  'GET /v2/user-pnl': {
    query: {
      readonly user: string;
      readonly interval?: '6h' | '12h' | '1d' | '1w' | '1m' | 'all' | 'max';
      readonly fidelity?: '1h' | '3h' | '12h' | '18h' | '1d';
    };
    body: undefined;
    answer: {
      readonly data: UserPnl;
    };
  };
  'GET /v2/user-volume': {
    query: {
      readonly user: string;
      readonly start?: number;
      readonly end?: number;
    };
    body: undefined;
    answer: {
      readonly data: UserVolume;
    };
  };
  'GET /v2/biggest-winners': {
    query: {
      readonly time_period?: 'day' | 'week' | 'month' | 'all' | 'season';
      readonly timePeriod?: 'day' | 'week' | 'month' | 'all' | 'season';
      readonly category?: string;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly BiggestWinner[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /seasons': {
    query: {
      readonly limit?: number;
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly {
        readonly season: number;
        readonly name: string;
        readonly started_at: number | null;
        readonly ended_at: number;
        readonly start_sum: string;
      }[];
      readonly next_cursor: string;
      readonly limit: number;
      readonly count: number;
    };
  };
  'GET /seasons/:season': {
    query: {
      readonly season: number;
      readonly limit?: number;
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: {
      readonly season: number;
      readonly name: string;
      readonly started_at: number | null;
      readonly ended_at: number;
      readonly start_sum: string;
      readonly data: readonly {
        readonly rank: number;
        readonly wallet: string;
        readonly name: string;
        readonly profit: string;
        readonly volume: string;
        readonly brier: string | null;
        readonly resolved_markets: number;
      }[];
      readonly next_cursor: string;
      readonly limit: number;
      readonly count: number;
    };
  };
  'POST /profile': {
    query: Readonly<Record<string, unknown>>;
    body: ProfileBody;
    answer: ProfileAnswer;
  };
  'GET /v2/trades': {
    query: {
      readonly user?: string;
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
      readonly event_id?: string;
      readonly eventId?: string;
      readonly side?: 'BUY' | 'SELL';
      readonly taker_only?: boolean;
      readonly takerOnly?: boolean;
      readonly filter_type?: 'CASH' | 'TOKENS';
      readonly filterType?: 'CASH' | 'TOKENS';
      readonly filter_amount?: number;
      readonly filterAmount?: number;
      readonly start?: number;
      readonly end?: number;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly DataTrade[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /v2/activity': {
    query: {
      readonly user: string;
      readonly type?: string;
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
      readonly event_id?: string;
      readonly eventId?: string;
      readonly side?: 'BUY' | 'SELL';
      readonly start?: number;
      readonly end?: number;
      readonly sort_by?: 'TIMESTAMP';
      readonly sortBy?: 'TIMESTAMP';
      readonly sort_direction?: 'ASC' | 'DESC';
      readonly sortDirection?: 'ASC' | 'DESC';
      readonly exclude_deposits_withdrawals?: boolean;
      readonly excludeDepositsWithdrawals?: boolean;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly DataActivity[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /v2/positions': {
    query: {
      readonly user?: string;
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
      readonly status?: 'OPEN' | 'REDEEMABLE' | 'REDEEMABLE_LOST' | 'MERGEABLE' | 'CLOSED';
      readonly event_id?: string;
      readonly eventId?: string;
      readonly title?: string;
      readonly filter_type?: 'CASH' | 'TOKENS';
      readonly filterType?: 'CASH' | 'TOKENS';
      readonly filter_amount?: number;
      readonly filterAmount?: number;
      readonly include_archived?: boolean;
      readonly includeArchived?: boolean;
      readonly start?: number;
      readonly end?: number;
      readonly sort_by?: 'CURRENT_VALUE' | 'PRICE' | 'TOKENS' | 'UNREALIZED_PNL' | 'REALIZED_PNL' | 'TOTAL_PNL' | 'TIMESTAMP';
      readonly sortBy?: 'CURRENT_VALUE' | 'PRICE' | 'TOKENS' | 'UNREALIZED_PNL' | 'REALIZED_PNL' | 'TOTAL_PNL' | 'TIMESTAMP';
      readonly sort_direction?: 'ASC' | 'DESC';
      readonly sortDirection?: 'ASC' | 'DESC';
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly DataPosition[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /v2/value': {
    query: {
      readonly user: string;
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
    };
    body: undefined;
    answer: {
      readonly data: PortfolioValue;
    };
  };
  'GET /v2/holders': {
    query: {
      readonly condition: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
      readonly min_balance?: number;
      readonly minBalance?: number;
      readonly include_pnl?: boolean;
      readonly includePnl?: boolean;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly DataHolders[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /v2/oi': {
    query: {
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
    };
    body: undefined;
    answer: {
      readonly data: DataOpenInterest;
    };
  };
  'GET /v2/live-volume': {
    query: {
      readonly event_id: string;
      readonly eventId?: string;
      readonly id?: string;
    };
    body: undefined;
    answer: {
      readonly data: DataLiveVolume;
    };
  };
  'GET /v2/prices-history': {
    query: {
      readonly token_id: string;
      readonly tokenId?: string;
      readonly interval?: 'max' | 'all' | '1m' | '1w' | '1d' | '6h' | '1h';
      readonly start?: number;
      readonly end?: number;
      readonly as_of?: number;
      readonly asOf?: number;
      readonly bucket_seconds?: number;
      readonly bucketSeconds?: number;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly DataPricePoint[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /v2/resolutions': {
    query: {
      readonly question_id?: string;
      readonly questionId?: string;
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
      readonly event_id?: string;
      readonly eventId?: string;
    };
    body: undefined;
    answer: {
      readonly data: DataResolutions;
    };
  };
  'GET /v2/approvals': {
    query: {
      readonly user: string;
    };
    body: undefined;
    answer: {
      readonly data: DataApprovals;
    };
  };
  'GET /v2/status': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly data: DataStatus;
    };
  };
  'GET /v2/builders/leaderboard': {
    query: {
      readonly time_period?: 'day' | 'week' | 'month' | 'all';
      readonly timePeriod?: 'day' | 'week' | 'month' | 'all';
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /v2/builders/volume': {
    query: {
      readonly interval?: 'day' | 'week' | 'month' | 'all';
      readonly time_period?: 'day' | 'week' | 'month' | 'all';
      readonly timePeriod?: 'day' | 'week' | 'month' | 'all';
      readonly limit?: number;
    };
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
    };
  };
  'GET /v2/activity/combos': {
    query: {
      readonly user: string;
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /v2/positions/combos': {
    query: {
      readonly user: string;
      readonly condition?: string;
      readonly condition_id?: string;
      readonly conditionId?: string;
      readonly sort_by?: 'FIRST_ENTRY' | 'ENTRY_COST' | 'CURRENT_VALUE' | 'UPDATED';
      readonly sortBy?: 'FIRST_ENTRY' | 'ENTRY_COST' | 'CURRENT_VALUE' | 'UPDATED';
      readonly sort_direction?: 'ASC' | 'DESC';
      readonly sortDirection?: 'ASC' | 'DESC';
      readonly limit?: number;
      readonly cursor?: string;
      readonly next_cursor?: string;
      readonly nextCursor?: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly pagination: {
        readonly limit: number;
        readonly offset: number;
        readonly has_more: boolean;
        readonly next_cursor: string | null;
      };
    };
  };
  'GET /markets': {
    query: {
      readonly limit?: number;
      readonly offset?: number;
      readonly id?: number;
      readonly 'id[]'?: number;
      readonly slug?: string;
      readonly 'slug[]'?: string;
      readonly event_id?: number;
      readonly event_slug?: string;
      readonly eventSlug?: string;
      readonly conditionId?: string;
      readonly condition_id?: string;
      readonly condition_ids?: string;
      readonly 'condition_ids[]'?: string;
      readonly question_ids?: string;
      readonly 'question_ids[]'?: string;
      readonly clob_token_ids?: string;
      readonly 'clob_token_ids[]'?: string;
      readonly tag_id?: number;
      readonly 'tag_id[]'?: number;
      readonly tag?: string;
      readonly tag_slug?: string;
      readonly exclude_tag_id?: number;
      readonly 'exclude_tag_id[]'?: number;
      readonly series_id?: number;
      readonly 'series_id[]'?: number;
      readonly series_slug?: string;
      readonly related_tags?: boolean;
      readonly active?: boolean;
      readonly closed?: boolean;
      readonly archived?: boolean;
      readonly neg_risk?: boolean;
      readonly negRisk?: boolean;
      readonly accepting_orders?: boolean;
      readonly acceptingOrders?: boolean;
      readonly enable_order_book?: boolean;
      readonly enableOrderBook?: boolean;
      readonly start_date_min?: string;
      readonly startDate_min?: string;
      readonly start_date_max?: string;
      readonly startDate_max?: string;
      readonly end_date_min?: string;
      readonly endDate_min?: string;
      readonly end_date_max?: string;
      readonly endDate_max?: string;
      readonly created_at_min?: string;
      readonly createdAt_min?: string;
      readonly created_at_max?: string;
      readonly createdAt_max?: string;
      readonly updated_at_min?: string;
      readonly updatedAt_min?: string;
      readonly updated_at_max?: string;
      readonly updatedAt_max?: string;
      readonly order_price_min_tick_size_min?: number;
      readonly orderPriceMinTickSize_min?: number;
      readonly order_price_min_tick_size_max?: number;
      readonly orderPriceMinTickSize_max?: number;
      readonly order_min_size_min?: number;
      readonly orderMinSize_min?: number;
      readonly order_min_size_max?: number;
      readonly orderMinSize_max?: number;
      readonly volume_min?: number;
      readonly volume_max?: number;
      readonly volume_num_min?: number;
      readonly volumeNum_min?: number;
      readonly volume_num_max?: number;
      readonly volumeNum_max?: number;
      readonly volume24hr_min?: number;
      readonly volume_24hr_min?: number;
      readonly volume24hr_max?: number;
      readonly volume_24hr_max?: number;
      readonly liquidity_min?: number;
      readonly liquidity_max?: number;
      readonly liquidity_num_min?: number;
      readonly liquidityNum_min?: number;
      readonly liquidity_num_max?: number;
      readonly liquidityNum_max?: number;
      readonly best_bid_min?: number;
      readonly bestBid_min?: number;
      readonly best_bid_max?: number;
      readonly bestBid_max?: number;
      readonly best_ask_min?: number;
      readonly bestAsk_min?: number;
      readonly best_ask_max?: number;
      readonly bestAsk_max?: number;
      readonly spread_min?: number;
      readonly spread_max?: number;
      readonly last_trade_price_min?: number;
      readonly lastTradePrice_min?: number;
      readonly last_trade_price_max?: number;
      readonly lastTradePrice_max?: number;
      readonly order?: string;
      readonly ascending?: boolean;
      readonly creator?: string;
      readonly include_tag?: boolean;
    };
    body: undefined;
    answer: readonly MarketAnswer[];
  };
  'GET /markets/keyset': {
    query: {
      readonly limit?: number;
      readonly after_cursor?: string;
      readonly id?: number;
      readonly 'id[]'?: number;
      readonly slug?: string;
      readonly 'slug[]'?: string;
      readonly event_id?: number;
      readonly event_slug?: string;
      readonly eventSlug?: string;
      readonly conditionId?: string;
      readonly condition_id?: string;
      readonly condition_ids?: string;
      readonly 'condition_ids[]'?: string;
      readonly question_ids?: string;
      readonly 'question_ids[]'?: string;
      readonly clob_token_ids?: string;
      readonly 'clob_token_ids[]'?: string;
      readonly tag_id?: number;
      readonly 'tag_id[]'?: number;
      readonly tag?: string;
      readonly tag_slug?: string;
      readonly exclude_tag_id?: number;
      readonly 'exclude_tag_id[]'?: number;
      readonly series_id?: number;
      readonly 'series_id[]'?: number;
      readonly series_slug?: string;
      readonly related_tags?: boolean;
      readonly active?: boolean;
      readonly closed?: boolean;
      readonly archived?: boolean;
      readonly neg_risk?: boolean;
      readonly negRisk?: boolean;
      readonly accepting_orders?: boolean;
      readonly acceptingOrders?: boolean;
      readonly enable_order_book?: boolean;
      readonly enableOrderBook?: boolean;
      readonly start_date_min?: string;
      readonly startDate_min?: string;
      readonly start_date_max?: string;
      readonly startDate_max?: string;
      readonly end_date_min?: string;
      readonly endDate_min?: string;
      readonly end_date_max?: string;
      readonly endDate_max?: string;
      readonly created_at_min?: string;
      readonly createdAt_min?: string;
      readonly created_at_max?: string;
      readonly createdAt_max?: string;
      readonly updated_at_min?: string;
      readonly updatedAt_min?: string;
      readonly updated_at_max?: string;
      readonly updatedAt_max?: string;
      readonly order_price_min_tick_size_min?: number;
      readonly orderPriceMinTickSize_min?: number;
      readonly order_price_min_tick_size_max?: number;
      readonly orderPriceMinTickSize_max?: number;
      readonly order_min_size_min?: number;
      readonly orderMinSize_min?: number;
      readonly order_min_size_max?: number;
      readonly orderMinSize_max?: number;
      readonly volume_min?: number;
      readonly volume_max?: number;
      readonly volume_num_min?: number;
      readonly volumeNum_min?: number;
      readonly volume_num_max?: number;
      readonly volumeNum_max?: number;
      readonly volume24hr_min?: number;
      readonly volume_24hr_min?: number;
      readonly volume24hr_max?: number;
      readonly volume_24hr_max?: number;
      readonly liquidity_min?: number;
      readonly liquidity_max?: number;
      readonly liquidity_num_min?: number;
      readonly liquidityNum_min?: number;
      readonly liquidity_num_max?: number;
      readonly liquidityNum_max?: number;
      readonly best_bid_min?: number;
      readonly bestBid_min?: number;
      readonly best_bid_max?: number;
      readonly bestBid_max?: number;
      readonly best_ask_min?: number;
      readonly bestAsk_min?: number;
      readonly best_ask_max?: number;
      readonly bestAsk_max?: number;
      readonly spread_min?: number;
      readonly spread_max?: number;
      readonly last_trade_price_min?: number;
      readonly lastTradePrice_min?: number;
      readonly last_trade_price_max?: number;
      readonly lastTradePrice_max?: number;
      readonly order?: string;
      readonly ascending?: boolean;
      readonly creator?: string;
      readonly include_tag?: boolean;
    };
    body: undefined;
    answer: MarketsKeysetAnswer;
  };
  'GET /markets/:id': {
    query: {
      readonly creator?: string;
      readonly include_tag?: boolean;
    };
    body: undefined;
    answer: MarketAnswer;
  };
  'GET /markets/slug/:slug': {
    query: {
      readonly creator?: string;
      readonly include_tag?: boolean;
    };
    body: undefined;
    answer: MarketAnswer;
  };
  'GET /markets/:id/tags': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: readonly TagAnswer[];
  };
  'GET /events': {
    query: {
      readonly limit?: number;
      readonly offset?: number;
      readonly id?: number;
      readonly 'id[]'?: number;
      readonly slug?: string;
      readonly 'slug[]'?: string;
      readonly tag_id?: number;
      readonly 'tag_id[]'?: number;
      readonly tag?: string;
      readonly tag_slug?: string;
      readonly exclude_tag_id?: number;
      readonly 'exclude_tag_id[]'?: number;
      readonly series_id?: number;
      readonly 'series_id[]'?: number;
      readonly series_slug?: string;
      readonly related_tags?: boolean;
      readonly active?: boolean;
      readonly closed?: boolean;
      readonly archived?: boolean;
      readonly start_date_min?: string;
      readonly startDate_min?: string;
      readonly start_date_max?: string;
      readonly startDate_max?: string;
      readonly creation_date_min?: string;
      readonly creationDate_min?: string;
      readonly creation_date_max?: string;
      readonly creationDate_max?: string;
      readonly end_date_min?: string;
      readonly endDate_min?: string;
      readonly end_date_max?: string;
      readonly endDate_max?: string;
      readonly created_at_min?: string;
      readonly createdAt_min?: string;
      readonly created_at_max?: string;
      readonly createdAt_max?: string;
      readonly updated_at_min?: string;
      readonly updatedAt_min?: string;
      readonly updated_at_max?: string;
      readonly updatedAt_max?: string;
      readonly volume_min?: number;
      readonly volume_max?: number;
      readonly volume24hr_min?: number;
      readonly volume_24hr_min?: number;
      readonly volume24hr_max?: number;
      readonly volume_24hr_max?: number;
      readonly liquidity_min?: number;
      readonly liquidity_max?: number;
      readonly order?: string;
      readonly ascending?: boolean;
      readonly creator?: string;
    };
    body: undefined;
    answer: readonly EventAnswer[];
  };
  'GET /events/keyset': {
    query: {
      readonly limit?: number;
      readonly after_cursor?: string;
      readonly id?: number;
      readonly 'id[]'?: number;
      readonly slug?: string;
      readonly 'slug[]'?: string;
      readonly tag_id?: number;
      readonly 'tag_id[]'?: number;
      readonly tag?: string;
      readonly tag_slug?: string;
      readonly exclude_tag_id?: number;
      readonly 'exclude_tag_id[]'?: number;
      readonly series_id?: number;
      readonly 'series_id[]'?: number;
      readonly series_slug?: string;
      readonly related_tags?: boolean;
      readonly active?: boolean;
      readonly closed?: boolean;
      readonly archived?: boolean;
      readonly start_date_min?: string;
      readonly startDate_min?: string;
      readonly start_date_max?: string;
      readonly startDate_max?: string;
      readonly creation_date_min?: string;
      readonly creationDate_min?: string;
      readonly creation_date_max?: string;
      readonly creationDate_max?: string;
      readonly end_date_min?: string;
      readonly endDate_min?: string;
      readonly end_date_max?: string;
      readonly endDate_max?: string;
      readonly created_at_min?: string;
      readonly createdAt_min?: string;
      readonly created_at_max?: string;
      readonly createdAt_max?: string;
      readonly updated_at_min?: string;
      readonly updatedAt_min?: string;
      readonly updated_at_max?: string;
      readonly updatedAt_max?: string;
      readonly volume_min?: number;
      readonly volume_max?: number;
      readonly volume24hr_min?: number;
      readonly volume_24hr_min?: number;
      readonly volume24hr_max?: number;
      readonly volume_24hr_max?: number;
      readonly liquidity_min?: number;
      readonly liquidity_max?: number;
      readonly order?: string;
      readonly ascending?: boolean;
      readonly creator?: string;
    };
    body: undefined;
    answer: EventsKeysetAnswer;
  };
  'GET /events/:id': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: WholeEventAnswer;
  };
  'GET /events/slug/:slug': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: WholeEventAnswer;
  };
  'GET /events/:id/tags': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: readonly TagAnswer[];
  };
  'GET /series': {
    query: {
      readonly limit?: number;
      readonly offset?: number;
      readonly creator?: string;
    };
    body: undefined;
    answer: readonly SeriesAnswer[];
  };
  'GET /series/:id': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: SeriesAnswer;
  };
  'GET /tags': {
    query: {
      readonly limit?: number;
      readonly offset?: number;
      readonly creator?: string;
    };
    body: undefined;
    answer: readonly TagAnswer[];
  };
  'GET /tags/:id': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: TagAnswer;
  };
  'GET /tags/slug/:slug': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: TagAnswer;
  };
  'GET /tags/:id/related-tags': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: RelatedTagsAnswer;
  };
  'GET /tags/:id/related-tags/tags': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: readonly TagAnswer[];
  };
  'GET /tags/slug/:slug/related-tags': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: RelatedTagsAnswer;
  };
  'GET /tags/slug/:slug/related-tags/tags': {
    query: {
      readonly creator?: string;
    };
    body: undefined;
    answer: readonly TagAnswer[];
  };
  'GET /public-search': {
    query: {
      readonly q?: string;
      readonly limit_per_type?: number;
      readonly page?: number;
      readonly search_tags?: boolean;
      readonly search_profiles?: boolean;
      readonly events_status?: string;
      readonly events_tag?: string;
      readonly 'events_tag[]'?: string;
      readonly exclude_tag_id?: number;
      readonly 'exclude_tag_id[]'?: number;
      readonly keep_closed_markets?: boolean;
      readonly sort?: string;
      readonly ascending?: boolean;
      readonly creator?: string;
    };
    body: undefined;
    answer: SearchAnswer;
  };
  'GET /public-profile': {
    query: {
      readonly address: string;
    };
    body: undefined;
    answer: PublicProfileAnswer;
  };
  'GET /sampling-markets': {
    query: {
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: SamplingAnswer;
  };
  'GET /sampling-simplified-markets': {
    query: {
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: SimplifiedSamplingAnswer;
  };
  'GET /clob/markets': {
    query: {
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: TradingMarketsAnswer;
  };
  'GET /clob/markets/:condition_id': {
    query: {
      readonly condition_id: string;
    };
    body: undefined;
    answer: TradingMarketAnswer;
  };
  'GET /simplified-markets': {
    query: {
      readonly next_cursor?: string;
    };
    body: undefined;
    answer: ShortTradingMarketsAnswer;
  };
  'GET /markets-by-token/:token_id': {
    query: {
      readonly token_id: string;
    };
    body: undefined;
    answer: MarketOfTokenAnswer;
  };
  'GET /clob-markets/:condition_id': {
    query: {
      readonly condition_id: string;
    };
    body: undefined;
    answer: TradingTermsAnswer;
  };
  'GET /live-activity/events/:condition_id': {
    query: {
      readonly condition_id: string;
    };
    body: undefined;
    answer: readonly {
      readonly event_type: 'trade';
      readonly market: {
        readonly condition_id: string;
        readonly asset_id: string;
        readonly question: string;
        readonly icon: string;
        readonly slug: string;
      };
      readonly user: {
        readonly address: string;
        readonly username: string;
      };
      readonly side: string;
      readonly size: string;
      readonly fee_rate_bps: string;
      readonly price: string;
      readonly outcome: string;
      readonly outcome_index: number;
      readonly transaction_hash: string;
      readonly timestamp: string;
    }[];
  };
  'GET /markets/live-activity/:condition_id': {
    query: {
      readonly condition_id: string;
    };
    body: undefined;
    answer: readonly {
      readonly event_type: 'trade';
      readonly market: {
        readonly condition_id: string;
        readonly asset_id: string;
        readonly question: string;
        readonly icon: string;
        readonly slug: string;
      };
      readonly user: {
        readonly address: string;
        readonly username: string;
      };
      readonly side: string;
      readonly size: string;
      readonly fee_rate_bps: string;
      readonly price: string;
      readonly outcome: string;
      readonly outcome_index: number;
      readonly transaction_hash: string;
      readonly timestamp: string;
    }[];
  };
  'GET /data/pre-migration-orders': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly next_cursor: 'LTE=';
      readonly limit: number;
      readonly count: 0;
    };
  };
  'GET /order-scoring': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly scoring: false;
    };
  };
  'POST /orders-scoring': {
    query: Readonly<Record<string, unknown>>;
    body: readonly string[];
    answer: Readonly<Record<string, false>>;
  };
  'GET /notifications': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: readonly unknown[];
  };
  'DELETE /notifications': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: 'OK';
  };
  'GET /rewards/user': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly next_cursor: 'LTE=';
      readonly limit: number;
      readonly count: 0;
    };
  };
  'GET /rewards/user/total': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: readonly unknown[];
  };
  'GET /rewards/user/percentages': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: Readonly<Record<string, unknown>>;
  };
  'GET /rewards/user/markets': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly next_cursor: 'LTE=';
      readonly limit: number;
      readonly count: 0;
    };
  };
  'GET /rewards/markets/current': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly next_cursor: 'LTE=';
      readonly limit: number;
      readonly count: 0;
    };
  };
  'GET /rewards/markets/:condition_id': {
    query: {
      readonly condition_id: string;
    };
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly next_cursor: 'LTE=';
      readonly limit: number;
      readonly count: 0;
    };
  };
  'GET /comments': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: readonly unknown[];
  };
  'GET /comments/keyset': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly comments: readonly unknown[];
    };
  };
  'GET /comments/:id': {
    query: {
      readonly id: string;
    };
    body: undefined;
    answer: readonly unknown[];
  };
  'GET /comments/user_address/:address': {
    query: {
      readonly address: string;
    };
    body: undefined;
    answer: readonly unknown[];
  };
  'GET /auth/builder-api-key': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: readonly unknown[];
  };
  'GET /builder/trades': {
    query: Readonly<Record<string, unknown>>;
    body: undefined;
    answer: {
      readonly data: readonly unknown[];
      readonly next_cursor: 'LTE=';
      readonly limit: number;
      readonly count: 0;
    };
  };
  'GET /fees/builder-fees/:code': {
    query: {
      readonly code: string;
    };
    body: undefined;
    answer: {
      readonly builder_maker_fee_rate_bps: 0;
      readonly builder_taker_fee_rate_bps: 0;
    };
  };
}
/** Credentials that a route asks for; the others are open to everybody. */
export const ACCESS = {
  'POST /auth/api-key': 'level1',
  'GET /auth/derive-api-key': 'level1',
  'GET /auth/api-keys': 'level2',
  'DELETE /auth/api-key': 'level2',
  'DELETE /auth/derive-api-key': 'level2',
  'GET /auth/ban-status/closed-only': 'level2',
  'POST /auth/readonly-api-key': 'level2',
  'GET /auth/readonly-api-keys': 'level2',
  'DELETE /auth/readonly-api-key': 'level2',
  'POST /invites/redeem': 'level1',
  'POST /order': 'level2',
  'POST /orders': 'level2',
  'POST /orders/explain': 'level2',
  'POST /replace': 'level2',
  'DELETE /order': 'level2',
  'DELETE /orders': 'level2',
  'DELETE /cancel-all': 'level2',
  'DELETE /cancel-market-orders': 'level2',
  'POST /orders/preview': 'level2-or-none',
  'POST /heartbeats': 'level2',
  'POST /v1/heartbeats': 'level2',
  'GET /faults': 'level2',
  'POST /faults': 'level2',
  'DELETE /faults': 'level2',
  'GET /data/order/:id': 'level2-read',
  'GET /data/orders': 'level2-read',
  'GET /data/trades': 'level2-read',
  'GET /ledger/statement': 'level2-read',
  'GET /balance-allowance': 'level2-read',
  'GET /balance-allowance/update': 'level2-read',
  'GET /ledger/balance': 'level2-read',
  'POST /split': 'level2',
  'POST /merge': 'level2',
  'POST /agents': 'level1',
  'GET /agents': 'level2-read',
  'POST /agents/revoke': 'level2',
  'POST /mcp': 'level2-or-none',
  'POST /profile': 'level2',
  'GET /data/pre-migration-orders': 'level2-read',
  'GET /order-scoring': 'level2-read',
  'POST /orders-scoring': 'level2-read',
  'GET /notifications': 'level2-read',
  'DELETE /notifications': 'level2-read',
  'GET /rewards/user': 'level2-read',
  'GET /rewards/user/total': 'level2-read',
  'GET /rewards/user/percentages': 'level2-read',
  'GET /rewards/user/markets': 'level2-read',
  'GET /auth/builder-api-key': 'level2-read',
} as const;
