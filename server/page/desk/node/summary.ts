/** State of the node: GET /page/summary of its admin listener, read once a second. */
import { signal } from '@preact/signals';
import { bearer, hasToken, signOut } from './operator.ts';

export interface Summary {
  readonly status: 'starting' | 'ready' | 'read-only' | 'draining';
  readonly version: string;
  /** Unix milliseconds. */
  readonly time: number;
  readonly uptime_seconds: number;
  readonly api: { readonly host: string; readonly port: number };
  readonly memory_bytes: number;
  readonly event_loop_delay_ms: { readonly p99: number };
  /** Null until it has recovered. */
  readonly node: NodeSummary | null;
}

export interface NodeSummary {
  /** Counters since the start. */
  readonly totals: Readonly<Record<'batches' | 'fills' | 'requests' | 'orders', number>>;
  readonly log: { readonly sequence: number };
  readonly follower: { readonly behind: number; readonly behind_ms: number } | null;
  readonly image: { readonly age_seconds: number } | null;
  readonly occupancy: readonly Occupancy[];
  readonly streams: { readonly clients: number; readonly bytes_held: number };
  readonly queue: { readonly waiting: number };
  readonly latency: Latency;
  readonly catalog_age_seconds: number;
  readonly cluster_nodes: readonly ClusterNode[];
  /** Null of a node alone. */
  readonly cluster: ClusterRole | null;
  /** Faults in force; null with FAULTS=off. */
  readonly faults: number | null;
}

export interface Occupancy {
  readonly table: string;
  readonly used: number;
  readonly capacity: number;
}

/** Counts since the start, of buckets with these upper bounds. */
export interface Latency {
  readonly bounds_us: readonly number[];
  readonly counts: readonly number[];
}

export interface ClusterRole {
  readonly node: string;
  readonly role: 'leader' | 'follower';
  /** Null while nobody leads. */
  readonly leader: string | null;
  readonly behind_ms: number;
}

interface ClusterNode {
  readonly node: string;
  readonly role?: string;
  readonly state: string;
  readonly behind_ms?: number;
}

const POLL_MS = 1_000;
const ANSWER_MS_MAX = 5_000;

export const summary = signal<Summary | undefined>(undefined);
/** True where the listener shows nothing without a token, and has got none, or a wrong one. */
export const isTokenNeeded = signal(false);
/** Unix milliseconds of the first poll without an answer; 0 while the node answers. */
export const awaySince = signal(0);

export async function followSummary(): Promise<never> {
  for (;;) {
    if (!document.hidden) await poll();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function poll(): Promise<void> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const answer = await fetch('page/summary', { cache: 'no-store', headers: bearer(), signal });
    awaySince.value = 0;
    // A reader without the right token, or one who has tried too many wrong ones.
    isTokenNeeded.value = answer.status === 401 || answer.status === 429;
    // Wrong ones are counted: it is not sent again.
    if (answer.status === 401 && hasToken()) signOut();
    if (answer.ok) summary.value = (await answer.json()) as Summary;
  } catch {
    if (awaySince.peek() === 0) awaySince.value = Date.now();
  }
}
