/**
 * A client of the node: everything that a bot needs, typed from the node's own schemas.
 *
 *   const client = await NodeClient.connect('http://127.0.0.1:3000', { wallet: Wallet.random() });
 *   const placed = await client.orders.post({ tokenId, side: 'BUY', price: '0.52', size: '10' });
 *
 * Money is decimal text wherever a method takes or returns it; `toMicro` and `fromMicro` lead to whole millionths,
 * to compute with. `call` alone returns the node's own answers, which have numbers in some places.
 */
import { type Agent, Agents, type AgentTerms } from './agents.ts';
import { Calls, type RouteKey, type RouteRequest, ServerClock } from './calls.ts';
import { Catalog } from './catalog.ts';
import type { ApiKey, Identity } from './credentials.ts';
import { type Signer, signingDomainOf } from './exchange.ts';
import { TIMEOUT_MS } from './http.ts';
import { type Invitation, Keys } from './keys.ts';
import { type Funds, Ledger } from './ledger.ts';
import { MarketData } from './market-data.ts';
import { Nodes } from './nodes.ts';
import { Orders, type OrderTerms, type Replaced } from './orders.ts';
import { Portfolio, type Position, type PositionsQuery, type ValueQuery } from './portfolio.ts';
import { type MarketHandlers, MarketStream } from './streams/market-stream.ts';
import { OwnState } from './streams/own-state.ts';
import type { StreamUrl } from './streams/socket.ts';
import { StreamTransport } from './streams/stream-transport.ts';
import { type UserHandlers, UserStream } from './streams/user-stream.ts';
import type { ExchangeInfoAnswer, LastPriceAnswer, Routes } from './types.ts';

export type { Agent, AgentTerms } from './agents.ts';
export type { RouteKey } from './calls.ts';
export { tokenIdsOf } from './catalog.ts';
export type { ApiKey } from './credentials.ts';
export { fromMicro, MICRO, toMicro } from './decimal.ts';
export {
  ApiError,
  LiquidityError,
  NoAnswerError,
  NotFoundError,
  UnknownTokenError,
} from './errors.ts';
export type { OrderType, SignedOrder, Signer } from './exchange.ts';
export type { Invitation } from './keys.ts';
export type { Balances, Funds, Sets, StatementEntry, TokenFunds } from './ledger.ts';
export type { MarketTerms } from './market-order.ts';
export type { TextMoney } from './money.ts';
export type { OrderTerms, Placed, Replaced } from './orders.ts';
export { PlayedClock, type PlayedTime } from './played-clock.ts';
export type { Position } from './portfolio.ts';
export { firstAccount, type Provider, ProviderWallet, WrongChainError } from './provider-wallet.ts';
export type { Book } from './streams/market-books.ts';
export type { MarketHandlers, MarketStream } from './streams/market-stream.ts';
export type { UserHandlers, UserStream } from './streams/user-stream.ts';
export type { TypedData } from './typed-data.ts';
export type * from './types.ts';
export { Wallet } from './wallet.ts';

export interface ClientOptions {
  /** Signs orders, and requests an API key if none is given: a `Wallet` or a `ProviderWallet`. */
  readonly wallet?: Signer;
  readonly key?: ApiKey;
  /** Gets the API key of a wallet that is new to the node, with a deposit and a name. */
  readonly invitation?: Invitation;
  /** In place of a wallet: the address whose orders and trades are read, and its read-only key. */
  readonly readOnly?: { readonly address: string; readonly key: string };
  /** The version of orders, but of positions; absent: 1 if the node accepts it, 2 with a deposit wallet. */
  readonly orderVersion?: 1 | 2;
  /** Deposit wallet of `wallet`, which pays for its orders: 0x + 40 hex digits. */
  readonly depositWallet?: string;
  /** Wallet whose agent `wallet` is: it pays for the orders, and is what the client reads. */
  readonly agentOf?: string;
  /** Milliseconds for which a call is repeated; 30 s when absent. */
  readonly patienceMs?: number;
  /** Milliseconds after which a try without an answer counts as lost; 10 s when absent. */
  readonly timeoutMs?: number;
  /** Maximum of connections; 8 when absent. */
  readonly connections?: number;
  /**
   * Every read shows the writes that this client was answered before, whatever node it comes to. When absent:
   * true with several nodes.
   */
  readonly readsOwnWrites?: boolean;
  /** Unix milliseconds; Date.now when absent. */
  readonly clock?: () => number;
}

const PATIENCE_MS = 30_000;

export class NodeClient {
  readonly info: ExchangeInfoAnswer;
  readonly catalog: Catalog;
  readonly marketData: MarketData;
  readonly orders: Orders;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly #agents: Agents;
  readonly #calls: Calls;
  readonly #portfolio: Portfolio;
  readonly #nodes: Nodes;
  readonly #patienceMs: number;
  readonly #timeoutMs: number;

  private constructor(
    nodes: Nodes,
    info: ExchangeInfoAnswer,
    calls: Calls,
    options: ClientOptions,
  ) {
    const { agentOf, depositWallet, orderVersion, patienceMs = PATIENCE_MS, wallet } = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#nodes = nodes;
    this.#patienceMs = patienceMs;
    this.#calls = calls;
    this.info = info;
    this.catalog = new Catalog(calls);
    this.marketData = new MarketData(calls);
    const version = orderVersion ?? (depositWallet === undefined ? undefined : 2);
    const payer = {
      ...(agentOf !== undefined && { agentOf }),
      ...(depositWallet !== undefined && { depositWallet }),
    };
    this.orders = new Orders(calls, wallet, signingDomainOf(info, version), payer);
    this.#portfolio = new Portfolio(calls, depositWallet ?? agentOf);
    const { mode }: Partial<ExchangeInfoAnswer> = info; // nodes of an earlier version do not say
    this.ledger = new Ledger(calls, mode?.play === true, agentOf);
    this.keys = new Keys(calls, info.credential_prefix, info.chain_id);
    this.#agents = new Agents(calls, wallet, info.credential_prefix, info.chain_id);
  }

  /**
   * Requests from the node what a client needs for signing, and the wallet's API key if there is a
   * wallet without one.
   * @param base URL of a node, or of several of one venue: where one fails, requests go to the next
   * @throws ApiError, NoAnswerError; Error when the nodes belong to different venues
   */
  static async connect(
    base: string | URL | readonly (string | URL)[],
    options: ClientOptions = {},
  ): Promise<NodeClient> {
    const { clock = Date.now, patienceMs = PATIENCE_MS, wallet } = options;
    const urls = typeof base === 'string' || base instanceof URL ? [base] : base;
    const nodes = new Nodes(
      urls.map((url) => new URL(url)),
      options,
    );
    const info = await nodes.connect(patienceMs);
    const { chain_id, credential_prefix: prefix, server_time } = info;
    const serverClock = new ServerClock(clock);
    serverClock.set(server_time);
    const callsOf = (identity: Identity | undefined): Calls =>
      new Calls(nodes, serverClock, patienceMs, prefix, identity);
    let identity: Identity | undefined;
    if (wallet !== undefined) {
      const keys = new Keys(callsOf(undefined), prefix, chain_id);
      const { invitation } = options;
      const issue = () =>
        invitation === undefined ? keys.create(wallet) : keys.redeem(wallet, invitation);
      const key = options.key ?? (await issue());
      identity = { address: wallet.address, key };
    } else if (options.readOnly !== undefined) {
      const { address, key } = options.readOnly;
      identity = { address, readOnlyKey: key };
    }
    return new NodeClient(nodes, info, callsOf(identity), options);
  }

  /** Newest batch of the node's log that an answer to this client has named; 0 = none. */
  get sequence(): number {
    return this.#nodes.sequence;
  }

  /** Makes reads show this batch too, with `readsOwnWrites`: the `sequence` of another client. */
  showFrom(sequence: number): void {
    this.#nodes.sequence = Math.max(this.#nodes.sequence, sequence);
  }

  /**
   * Calls any route of the node by its key, and returns its answer unchanged: `call('GET /markets/:id', { path: {
   * id: 1001 } })`.
   */
  call<Key extends RouteKey>(
    route: Key,
    request: RouteRequest<Key>,
  ): Promise<Routes[Key]['answer']> {
    return this.#calls.call(route, request);
  }

  /** Open positions of the caller's address or deposit wallet, page by page, or of `query.user`. */
  positions(query: PositionsQuery = {}): AsyncGenerator<Position, void> {
    return this.#portfolio.positions(query);
  }

  value(query: ValueQuery = {}): Promise<string> {
    return this.#portfolio.value(query);
  }

  /** Total, reserved and free cash of the caller, or shares of a token. @throws UnknownTokenError */
  balance(tokenId?: string): Promise<Funds> {
    return this.ledger.balance(tokenId);
  }

  /**
   * Authorises an agent of a wallet, or replaces its terms; the client's wallet signs.
   * @throws ApiError
   */
  authorizeAgent(terms: AgentTerms): Promise<Agent> {
    return this.#agents.authorize(terms);
  }

  /** Agents of the caller's wallets, and wallets whose agent the caller is. */
  agents(): Promise<readonly Agent[]> {
    return this.#agents.list();
  }

  /** Ends an agent, and cancels its open orders. */
  revokeAgent(agent: { readonly agent: string; readonly wallet?: string }): Promise<Agent> {
    return this.#agents.revoke(agent);
  }

  lastTrade(tokenId: string): Promise<LastPriceAnswer> {
    return this.marketData.lastTrade(tokenId);
  }

  replace(id: string, order: OrderTerms): Promise<Replaced> {
    return this.orders.replace(id, order);
  }

  /** Books of tokens, always up to date. Resolves when all of them are loaded. */
  followMarket(tokens: readonly string[], handlers: MarketHandlers = {}): Promise<MarketStream> {
    return MarketStream.open(this.#streams('/ws/market'), this.#patienceMs, tokens, handlers);
  }

  /**
   * Own orders, trades and balances, each event once and in order. The `orders` of the stream place and cancel over it.
   */
  followUser(handlers: UserHandlers): Promise<UserStream> {
    const { clock, identity } = this.#calls;
    const own = new OwnState(this.orders, Number(clock.now()));
    const requests = new StreamTransport(this.#nodes, this.#timeoutMs);
    const parts = { own, requests, orders: this.orders.over(requests) };
    return UserStream.open(this.#streams('/ws/user'), this.#patienceMs, identity, parts, handlers);
  }

  /** Closes all connections of calls. Streams are closed separately. */
  close(): void {
    this.#nodes.close();
  }

  #streams(path: string): StreamUrl {
    return (failures) => this.#nodes.streamUrl(path, failures);
  }
}
