/**
 * Requests to any node of a cluster, as a load balancer sends them. Where nodes do not accept
 * orders for the leader, requests go to the leader that they name.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type Method, type Reply } from '../../../client/http.ts';
import type { Random } from '../../common/random.ts';
import type { Address } from './stage.ts';

/** Longer than most faults: the leader may answer late. */
const TIMEOUT_MS = 3_000;
const REST_MS = 40;

interface Acknowledged {
  readonly sentAt: number;
  readonly at: number;
}

export class AnyNode extends HttpClient {
  /** Newest orders that were answered with 200. */
  acknowledged: Acknowledged[] = [];
  /** Requests with an error or without an answer; 401 is the answer to a revoked key. */
  readonly failed: string[] = [];
  readonly answered: number[] = [];
  private readonly nodes: readonly HttpClient[];
  private readonly origins: readonly string[];
  private readonly random: Random;
  /** True once a node has refused requests that only the leader accepts. */
  private areRefused = false;
  private leader: number | undefined;

  constructor(addresses: readonly Address[], random: Random) {
    const origins = addresses.map(({ host, port }) => `http://${host}:${port}`);
    super(new URL(origins[0]!));
    this.origins = origins;
    this.nodes = origins.map(
      (origin) => new HttpClient(new URL(origin), { timeoutMs: TIMEOUT_MS }),
    );
    this.random = random;
  }

  override async send(
    method: Method,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): Promise<Reply> {
    const sentAt = performance.now();
    const node = this.leader ?? this.random.below(this.nodes.length);
    try {
      const reply = await this.nodes[node]!.send(method, path, headers, body);
      this.judge(node, method, reply);
      if (reply.status !== 200 && reply.status !== 401) {
        this.failed.push(`n${node}: ${method} ${path}: ${reply.status} ${reply.body}`);
      }
      if (reply.status === 200) {
        this.answered[node] = (this.answered[node] ?? 0) + 1;
        if (path === '/orders' && method === 'POST') {
          this.acknowledged.push({ sentAt, at: performance.now() });
        }
      }
      return { ...reply, retryAfterSeconds: 0 };
    } catch (error) {
      this.leader = undefined;
      this.failed.push(`n${node}: ${method} ${path}: ${error}`);
      await sleep(REST_MS);
      throw error;
    }
  }

  override close(): void {
    for (const node of this.nodes) node.close();
  }

  /**
   * Milliseconds from `then` to the first acknowledged order that was sent after it; `undefined`
   * while there is none.
   */
  firstAfter(then: number): number | undefined {
    const after = this.acknowledged.filter(({ sentAt }) => sentAt >= then).map(({ at }) => at);
    return after.length === 0 ? undefined : Math.min(...after) - then;
  }

  /** Milliseconds of the slowest of these orders. */
  get slowest(): number {
    return Math.max(0, ...this.acknowledged.map(({ at, sentAt }) => at - sentAt));
  }

  private judge(node: number, method: Method, { body, status }: Reply): void {
    if (status === 200 && method !== 'GET' && this.areRefused) this.leader = node;
    if (status !== 503) return;
    if (this.leader === node) this.leader = undefined;
    if (!/NOT_LEADING|JOURNAL_UNAVAILABLE/.test(body)) return;
    this.areRefused = true;
    const named = this.origins.findIndex((origin) => body.includes(`"${origin}"`));
    if (named >= 0 && named !== node) this.leader = named;
  }
}
