/**
 * Watches the other nodes: each says twice a second why it is not ready, how far it is, and what its clock says, on a
 * connection of its own that stays open. So a node knows who could lead without a new file or another request.
 *
 * Thread: the I/O thread. Not here: what follows from it (readiness.ts, step-down.ts).
 */
import type { Announced } from './announced.ts';
import type { MeasuredClock } from './clock-skew.ts';
import { HeartbeatTimeout } from './heartbeat-timeout.ts';
import { PeerCall } from './peers/calls.ts';
import { addressOf, CallFailed, PeerConnection } from './peers/peer-connection.ts';
import type { PeerServer } from './peers/peer-server.ts';
import type { PeerSecrets } from './peers/secure.ts';

export interface NodeState {
  readonly leads: boolean;
  readonly applied: number;
  /** Codes of the reasons why it is not ready that concern it alone. */
  readonly reasons: readonly string[];
  /** Unix milliseconds by which it judges credentials. */
  readonly wall: number;
}

export interface WatchedNode extends Pick<Announced, 'mayLead' | 'peers'> {
  readonly node: string;
  /** Undefined: it has not answered, or is of a version that does not say. */
  readonly state: NodeState | undefined;
  readonly clock: MeasuredClock | undefined;
  /** Milliseconds since its last answer; time in which this process stood still counts for nothing. */
  readonly silentMs: number;
}

interface Row {
  readonly silence: HeartbeatTimeout;
  announced: Pick<Announced, 'mayLead' | 'peers'>;
  hasAnswered: boolean;
  isAsked: boolean;
  connection: PeerConnection | undefined;
  state: NodeState | undefined;
  clock: MeasuredClock | undefined;
}

export interface NodeWatchOptions {
  readonly node: string;
  readonly secrets: PeerSecrets;
  readonly nodes: () => Promise<ReadonlyMap<string, Pick<Announced, 'mayLead' | 'peers'>>>;
  readonly wall: () => number;
  readonly onLook: () => void;
}

const LOOK_MS = 500;
/** A node that has answered within this time is there. */
export const FRESH_MS = 800;
/** A round trip that takes longer measures no clock. */
const ROUND_TRIP_MS_MAX = 1_000;
const EMPTY = Buffer.alloc(0);

export class NodeWatch {
  private readonly options: NodeWatchOptions;
  private readonly rows = new Map<string, Row>();
  private timer: NodeJS.Timeout | undefined;
  private isListing = false;
  private isClosed = false;

  constructor(options: NodeWatchOptions) {
    this.options = options;
  }

  start(): void {
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.look();
  }

  static serve(server: Pick<PeerServer, 'answer'>, own: () => NodeState): void {
    server.answer(PeerCall.state, async () => Buffer.from(JSON.stringify(own())));
  }

  nodes(): WatchedNode[] {
    return [...this.rows.keys()].map((node) => this.find(node)!);
  }

  find(node: string): WatchedNode | undefined {
    const row = this.rows.get(node);
    if (row === undefined) return undefined;
    const { announced, clock, hasAnswered, silence, state } = row;
    return { ...announced, node, clock, state, silentMs: hasAnswered ? silence.look() : Infinity };
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const { connection } of this.rows.values()) connection?.close();
  }

  private look(): void {
    void this.list();
    for (const [node, row] of this.rows) void this.ask(node, row);
    this.options.onLook();
  }

  private async list(): Promise<void> {
    if (this.isListing) return;
    this.isListing = true;
    try {
      this.take(await this.options.nodes());
    } catch {
      // The nodes of the last list go on being watched.
    } finally {
      this.isListing = false;
    }
  }

  private take(nodes: Awaited<ReturnType<NodeWatchOptions['nodes']>>): void {
    if (this.isClosed) return;
    for (const [node, row] of this.rows) {
      if (nodes.has(node)) continue;
      row.connection?.close();
      this.rows.delete(node);
    }
    for (const [node, announced] of nodes) {
      if (node === this.options.node) continue;
      const row = this.rows.get(node);
      if (row?.announced.peers === announced.peers) row.announced = announced;
      else this.begin(node, announced);
    }
  }

  /** Watches a node that was not there, or is back at another address. */
  private begin(node: string, announced: Row['announced']): void {
    this.rows.get(node)?.connection?.close();
    const row: Row = {
      announced,
      hasAnswered: false,
      isAsked: false,
      silence: new HeartbeatTimeout(2 * LOOK_MS),
      connection: undefined,
      state: undefined,
      clock: undefined,
    };
    this.rows.set(node, row);
    void this.ask(node, row);
  }

  private async ask(node: string, row: Row): Promise<void> {
    row.silence.look();
    if (row.isAsked || this.isClosed) return;
    row.isAsked = true;
    try {
      if (row.connection?.isLost !== false) {
        row.connection = new PeerConnection(
          addressOf(row.announced.peers),
          this.options.secrets,
          this.options.node,
        );
      }
      const [wall, sent] = [this.options.wall(), performance.now()];
      const state = await answerOf(row.connection);
      const errorMs = (performance.now() - sent) / 2;
      row.hasAnswered = true;
      row.silence.end();
      row.state = state;
      if (state !== undefined && 2 * errorMs <= ROUND_TRIP_MS_MAX)
        row.clock = { node, aheadMs: state.wall - wall - errorMs, errorMs };
    } catch {
      // Its silence goes on.
    } finally {
      row.isAsked = false;
    }
  }
}

/** Undefined of a node whose version does not know the call. */
async function answerOf(connection: PeerConnection): Promise<NodeState | undefined> {
  try {
    const bytes = await connection.call(PeerCall.state, EMPTY);
    return JSON.parse(bytes.toString()) as NodeState;
  } catch (error) {
    if (error instanceof CallFailed) return undefined;
    throw error;
  }
}
