// @ts-check
/**
 * Reads GET /page/summary of the admin listener once a second. Where a token is required the reader
 * enters it, and the tab stores it until it is closed.
 */

/**
 * @typedef {object} Summary
 * @property {'starting' | 'ready' | 'read-only' | 'draining'} status
 * @property {string} version
 * @property {number} time unix milliseconds
 * @property {number} uptime_seconds
 * @property {{ host: string, port: number }} api
 * @property {number} memory_bytes
 * @property {{ p50: number, p99: number, max: number }} event_loop_delay_ms
 * @property {NodeSummary | null} node null until it has recovered
 */

/**
 * @typedef {object} NodeSummary
 * @property {Readonly<Record<'batches' | 'fills' | 'requests' | 'orders' | 'accepted', number>>} totals
 *   counters
 * @property {{ sequence: number }} log
 * @property {{ behind: number, behind_ms: number } | null} follower
 * @property {{ age_seconds: number } | null} image
 * @property {readonly Occupancy[]} occupancy
 * @property {{ clients: number, bytes_held: number }} streams
 * @property {{ waiting: number, max: number }} queue
 * @property {Latency} latency
 * @property {number} catalog_age_seconds
 * @property {readonly ClusterNode[]} cluster_nodes
 * @property {ClusterRole | null} cluster null of a node alone
 */

/**
 * The part of this node in its cluster: `leader` is null while nobody leads.
 * @typedef {{ node: string, role: 'leader' | 'follower', leader: string | null, behind_ms: number }} ClusterRole
 */

/** @typedef {{ node: string, role?: string, state: string, behind_ms?: number }} ClusterNode */

/** @typedef {{ table: string, used: number, capacity: number, variable: string }} Occupancy */
/** @typedef {{ bounds_us: readonly number[], counts: readonly number[] }} Latency since the start */

const POLL_MS = 1_000;
const TOKEN_KEY = 'admin token';
const UNAUTHORIZED = 401;

export class NodeFeed {
  /** @param {(summary: Summary) => void} onSummary @param {() => Promise<string>} askToken */
  constructor(onSummary, askToken) {
    this.onSummary = onSummary;
    this.askToken = askToken;
    this.run();
  }

  async run() {
    for (;;) {
      if (!document.hidden) await this.poll();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async poll() {
    try {
      const token = sessionStorage.getItem(TOKEN_KEY);
      /** @type {Record<string, string>} */
      const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
      const signal = AbortSignal.timeout(5_000);
      const answer = await fetch('/page/summary', { cache: 'no-store', headers, signal });
      if (answer.status === UNAUTHORIZED) {
        sessionStorage.setItem(TOKEN_KEY, await this.askToken());
      } else if (answer.ok) this.onSummary(await answer.json());
    } catch {
      // The node does not answer: the next poll follows, and the stream shows it.
    }
  }
}
