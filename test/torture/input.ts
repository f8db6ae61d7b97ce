/**
 * Requests of every route of the table and messages of every stream, generated from their schemas.
 * The node must answer each in its documented shape, never with a 5xx, and its state must be equal
 * before and after all of them.
 */
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { State } from '../../engine/tables/layout.ts';
import { stateHash } from '../../engine/tables/state-hash.ts';
import { compileShape, type Shape } from '../../server/common/schema.ts';
import type { RouteRow } from '../../server/http/route.ts';
import { ROUTE_TABLE } from '../../server/routes/route-table.ts';
import { STREAM_TABLE } from '../../server/streams/messages.ts';
import {
  type Reply,
  SMALL_NODE,
  send,
  TestNode,
  temporaryDirectory,
  until,
  withMarkets,
} from '../common/node-harness.ts';
import { Random } from '../common/random.ts';
import { SocketClient } from '../common/socket-client.ts';
import { Trader } from '../common/traders.ts';
import { WITH_LEDGER } from '../common/verified.ts';
import { assertFits } from '../streams/stream-node.ts';
import { Values } from './input-values.ts';
import { type Done, Pace, type PartOptions, withRoundSeed } from './part.ts';
import { recoverFrom } from './simulated-node.ts';

const AT_ONCE = 12;
/** Requests for each message of a stream. */
const REQUESTS_PER_MESSAGE = 10;
const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH'];

interface Target {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly row: RouteRow;
  readonly answer: Shape<unknown>;
}

const TARGETS: readonly Target[] = Object.entries<RouteRow>(ROUTE_TABLE).map(([key, row]) => {
  const [method = '', path = ''] = key.split(' ');
  return { key, method, path, row, answer: compileShape(row.answer) };
});

export async function input(options: PartOptions): Promise<Done> {
  return withRoundSeed('input', options.seed, async (seed) => {
    const stage = await Stage.open(new Random(seed));
    const pace = new Pace(options, 'requests and messages');
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    let messages = 0;
    try {
      for (let done = 0; pace.goesOn(done); ) {
        await Promise.all(Array.from({ length: AT_ONCE }, () => stage.request(agent)));
        done = AT_ONCE;
        for (let i = 0; i < AT_ONCE / REQUESTS_PER_MESSAGE; i++) {
          await stage.message();
          done += 1;
          messages += 1;
        }
      }
    } finally {
      agent.destroy();
    }
    const statuses = [...stage.statuses].sort().map(([status, n]) => `${status}: ${n}`);
    await stage.close();
    return pace.done(`${TARGETS.length} routes (${statuses.join(', ')}), ${messages} messages`);
  });
}

/**
 * A node with a few orders and trades, and a stranger with keys of its own who sends every request.
 */
class Stage {
  readonly statuses = new Map<number, number>();
  private readonly dataDir: string;
  private readonly random: Random;
  private readonly values: Values;
  private node: TestNode;
  private readonly hash: string;
  private stranger: Trader;
  private strangers = 0;
  private readonly sockets = new Map<string, SocketClient>();
  /** Routes that were not asked in this round. */
  private waiting: Target[] = [];

  private constructor(
    dataDir: string,
    random: Random,
    known: readonly string[],
    node: TestNode,
    stranger: Trader,
    hash: string,
  ) {
    this.dataDir = dataDir;
    this.random = random;
    this.values = new Values(random, known);
    this.node = node;
    this.hash = hash;
    this.stranger = stranger;
  }

  static async open(random: Random): Promise<Stage> {
    const dataDir = temporaryDirectory();
    const markets = await withMarkets(dataDir, [
      { id: 1 },
      { id: 2, tick: 0.001, negRisk: true },
      { id: 3, outcomes: ['A', 'B', 'C'] },
    ]);
    const hasLedger = random.chance(50);
    let node = await TestNode.start(dataDir, hasLedger ? WITH_LEDGER : {});
    const [alice, bob] = [await Trader.join(node, 'alice'), await Trader.join(node, 'bob')];
    const ids: string[] = [];
    for (const market of markets) {
      if (hasLedger) await bob.split(node, market, 30);
      for (const ticks of [40, 45, 50]) {
        const terms = { market, ticks, shares: 20 };
        ids.push((await alice.place(node, { ...terms, side: 'BUY' })).orderID);
      }
      const sold = { market, ticks: 48, shares: 30, side: 'SELL' } as const;
      ids.push((await bob.place(node, sold)).orderID);
    }
    await node.stop();
    const hash = await hashOf(dataDir);
    // Strangers get nothing.
    node = await TestNode.start(dataDir, hasLedger ? { LEDGER: 'on' } : {});
    const stranger = await Trader.join(node, 'stranger 0');
    const known = [
      ...ids,
      ...markets.flatMap((market) => [market.conditionId, ...market.tokenIds]),
      ...['1', '2', '3', 'event-1', 'market-2', 'BUY', 'SELL', 'GTC', 'FOK', '0.5', '5000000'],
      ...[alice.address, stranger.address, alice.trio.apiKey, stranger.trio.apiKey],
      ...['market', 'user', 'subscribe', 'true', '1d', 'max', '1750000000'],
    ];
    return new Stage(dataDir, random, known, node, stranger, hash);
  }

  async request(agent: Agent): Promise<void> {
    const { random, values } = this;
    if (this.waiting.length === 0) this.waiting = [...TARGETS];
    const [target] = this.waiting.splice(random.below(this.waiting.length), 1);
    const { path: template, row } = target!;
    const path = template.replaceAll(/:\w+/g, () => values.parameter({ type: 'string' }));
    const query = values.query(row.query.schema, (name) => template.includes(`:${name}`));
    const isOther = random.chance(2);
    const method = isOther ? random.pick(METHODS) : target!.method;
    const sendsBody = row.body !== undefined ? random.chance(95) : random.chance(5);
    const body = sendsBody ? values.bodyText(values.of(row.body)).toWellFormed() : '';
    const text = query === '' ? path : `${path}?${query}`;
    const who = row.access === 'none' ? 0 : random.below(100);
    const reply = await this.ask(agent, method, path, query, body, who).catch((error: unknown) => {
      throw new Error(
        `${method} ${text} ${body.slice(0, 2_000)}: ${error}\n${this.node.log.slice(-500)}`,
      );
    });
    this.judge(reply, isOther ? undefined : target, `${method} ${text} ${body.slice(0, 2_000)}`);
    const isKeyRoute = path.startsWith('/auth/') && method === 'DELETE' && reply.status === 200;
    if (isKeyRoute) this.stranger = await Trader.join(this.node, `stranger ${++this.strangers}`);
  }

  private ask(
    agent: Agent,
    method: string,
    path: string,
    query: string,
    body: string,
    who: number,
  ): Promise<Reply> {
    const { node, stranger, values } = this;
    const question = query === '' ? '' : `?${query}`;
    if (who >= 30) return stranger.call(node, method, path, question, body, agent);
    const headers: Record<string, string> = {};
    if (who >= 20) {
      for (const name of ['ADDRESS', 'API-KEY', 'PASSPHRASE', 'TIMESTAMP', 'SIGNATURE', 'NONCE']) {
        headers[`SERVICE-${name}`] = encodeURIComponent(values.text().toWellFormed());
      }
    }
    return send(node, method, `${path}${question}`, headers, body, agent);
  }

  private judge({ json, status, text }: Reply, target: Target | undefined, asked: string): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const said = `${asked}\nanswered ${status} ${text.slice(0, 1_000)}`;
    assert(status >= 200 && status < 500, said);
    if (status === 200) {
      if (target === undefined || target.answer.matches(json)) return;
      // A page, or a part of one: what it says is no JSON.
      if (target.row.media !== undefined && text !== '') return;
      assert.fail(`${said}\n${JSON.stringify(target.answer.fault(json))}`);
    }
    const isRefusal = typeof (json as { error?: unknown } | null)?.error === 'string';
    assert(isRefusal, said);
  }

  /** Sends a message to one of the streams, and returns everything that it brought. */
  async message(): Promise<void> {
    const { random, values } = this;
    const path = random.pick(Object.keys(STREAM_TABLE) as (keyof typeof STREAM_TABLE)[]);
    let socket = this.sockets.get(path);
    if (socket === undefined || socket.closed !== undefined || random.chance(2)) {
      socket?.cut();
      socket = await SocketClient.open(this.node, path);
      this.sockets.set(path, socket);
    }
    const value = values.of(STREAM_TABLE[path].message);
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    const hasKey = path === '/ws/user' && isRecord && random.chance(60);
    const text = values.bodyText(hasKey ? { ...value, auth: this.stranger.trio } : value);
    socket.send(text.toWellFormed());
    socket.send('PING');
    const opened = socket;
    const isAnswered = (): boolean => opened.closed !== undefined || opened.texts.includes('PONG');
    await until(isAnswered).catch(() => assert.fail(`no PONG after ${text.slice(0, 2_000)}`));
    for (const told of opened.texts.splice(0)) {
      if (told === 'PONG') continue;
      const event = JSON.parse(told) as Record<string, unknown>;
      for (const one of Array.isArray(event) ? event : [event]) assertFits(one);
    }
  }

  /** Stops the node, and checks that the next start has the same state. */
  async close(): Promise<void> {
    for (const socket of this.sockets.values()) socket.cut();
    assert(!this.node.hasEnded, this.node.log);
    await this.node.stop();
    assert.equal(
      await hashOf(this.dataDir),
      this.hash,
      'requests that change nothing changed the state',
    );
  }
}

/** State hash of a stopped node's directory after recovery. */
async function hashOf(dataDir: string): Promise<string> {
  const capacities = {
    markets: Number(SMALL_NODE.MARKETS_MAX),
    tokens: Number(SMALL_NODE.TOKENS_MAX),
    accounts: Number(SMALL_NODE.ACCOUNTS_MAX),
    orders: Number(SMALL_NODE.ORDERS_MAX),
    levels: Number(SMALL_NODE.LEVELS_MAX),
    trades: Number(SMALL_NODE.TRADES_MAX),
    history: Number(SMALL_NODE.ORDER_HISTORY),
    positions: 2 ** 20,
    operatorIds: 2 ** 20,
  };
  const segmentBytes = Number(SMALL_NODE.LOG_SEGMENT_BYTES);
  const settings = { capacities, durability: 'flushed', segmentBytes } as const;
  const { log, recovered } = await recoverFrom(dataDir, settings, true);
  await log.close();
  const { t } = recovered.engine;
  // Keys and heartbeats are batches of their own, which leave everything but these as it was.
  for (const counter of [State.batch, State.time, State.digest]) t.state[counter] = 0;
  return stateHash(t);
}
