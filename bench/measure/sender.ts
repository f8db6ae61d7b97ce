/**
 * Sends prepared requests: on a schedule that does not wait for answers (open loop), or each as soon
 * as a connection is free (closed loop). What is due while all connections are busy waits in line, and
 * its latency counts from when it was due.
 * Thread: the tool's only one.
 * Non-goals: sending anything twice; what the answers say.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { monotonicMs, Pacer } from './pacer.ts';
import type { PackedRequests } from './packed-requests.ts';
import { Fate } from './samples.ts';

/** A request that was sent, or that never was. Times from the start of the run. */
export interface Sent {
  readonly index: number;
  readonly dueMs: number;
  readonly toolLateMs: number;
  readonly serviceMs: number;
  readonly latencyMs: number;
  readonly fate: Fate;
  /** 0: none. */
  readonly status: number;
  readonly body: Buffer;
}

export interface Plan {
  readonly url: URL;
  readonly connections: number;
  readonly requests: PackedRequests;
  /** Times at which requests are due, from the start, ascending; `undefined` in a closed loop. */
  readonly dueMs: Float64Array | undefined;
  /** Longest wait for answers after the last request was due. */
  readonly drainMs: number;
}

const NO_BODY = Buffer.alloc(0);
const POLL_MS = 5;
const CONNECT_MS_MAX = 10_000;

export class Sender {
  readonly #plan: Plan;
  readonly #settled: (sent: Sent) => void;
  readonly #connections: Connection[] = [];
  readonly #idle: Connection[] = [];
  /** Time at which each request was seen to be due, and at which it was sent; 0 before. */
  readonly #seenMs: Float64Array;
  readonly #sentMs: Float64Array;
  readonly #isSettled: Uint8Array;
  #pacer: Pacer | undefined;
  #startMs = 0;
  /** Requests that are due, sent and settled so far. */
  #due = 0;
  #sent = 0;
  #ended = 0;
  #running = false;

  constructor(plan: Plan, settled: (sent: Sent) => void) {
    this.#plan = plan;
    this.#settled = settled;
    const count = plan.requests.length;
    this.#seenMs = new Float64Array(count);
    this.#sentMs = new Float64Array(count);
    this.#isSettled = new Uint8Array(count);
  }

  /** Requests that are due and wait for a free connection. */
  get waiting(): number {
    return this.#due - this.#sent;
  }

  /** Opens the connections and makes all ready. Rejects when the node cannot be reached. */
  async connect(): Promise<void> {
    const { url, connections, dueMs } = this.#plan;
    if (dueMs !== undefined) this.#pacer = await Pacer.prepare(dueMs);
    const opened = (connection: Connection): void => {
      // One that was lost while it was idle is still in the list.
      if (!this.#idle.includes(connection)) this.#idle.push(connection);
      this.#pump();
    };
    for (let i = 0; i < connections; i += 1) this.#connections.push(new Connection(url, opened));
    const deadline = monotonicMs() + CONNECT_MS_MAX;
    while (this.#idle.length < connections) {
      if (monotonicMs() > deadline) throw new Error(`no ${connections} connections to ${url}`);
      await pause(POLL_MS);
    }
  }

  /** Sends everything from `startMs` of the monotonic clock on; resolves when all is settled. */
  async run(startMs: number): Promise<void> {
    const { dueMs, requests, drainMs } = this.#plan;
    this.#startMs = startMs;
    this.#running = true;
    this.#pacer?.start(startMs, () => this.#pump());
    while (monotonicMs() < startMs) await pause(1);
    this.#pump();
    // Without a schedule the time of grace begins anew with each answer.
    let lastEnded = -1;
    let graceFrom = startMs + (dueMs?.at(-1) ?? 0);
    while (this.#running && this.#ended < requests.length) {
      if (dueMs === undefined && this.#ended !== lastEnded) {
        lastEnded = this.#ended;
        graceFrom = monotonicMs();
      }
      if (monotonicMs() > graceFrom + drainMs) break;
      await pause(POLL_MS);
      this.#pump(); // in case the pacer's thread gets no processor
    }
    this.#running = false;
    await this.#pacer?.stop();
    this.#giveUp();
    for (const connection of this.#connections) connection.close();
  }

  /** Ends the run early; what is not settled counts as unanswered. */
  stop(): void {
    this.#running = false;
  }

  #pump(): void {
    if (!this.#running) return;
    this.#look();
    while (this.#sent < this.#due) {
      const connection = this.#idle.shift();
      if (connection === undefined) return;
      const index = this.#sent;
      this.#sent += 1; // first, because a send that fails at once comes back here
      this.#send(connection, index);
    }
  }

  /** Finds out what is due by now. */
  #look(): void {
    const { dueMs, requests } = this.#plan;
    const now = monotonicMs() - this.#startMs;
    if (now < 0) return;
    if (dueMs === undefined) this.#due = Math.min(requests.length, this.#sent + this.#idle.length);
    while (dueMs !== undefined && this.#due < dueMs.length && dueMs[this.#due]! <= now) {
      this.#seenMs[this.#due] = now;
      this.#due += 1;
    }
  }

  #send(connection: Connection, index: number): void {
    this.#sentMs[index] = monotonicMs() - this.#startMs;
    connection.send(this.#plan.requests.at(index), (status, body) => {
      const now = monotonicMs() - this.#startMs;
      // A lost connection comes back by itself when it is open again.
      if (status !== 0) this.#idle.push(connection);
      if (this.#isSettled[index] === 0) {
        this.#settle(index, now, status === 200 ? Fate.answered : Fate.failed, status, body);
      }
      this.#pump();
    });
  }

  #settle(index: number, now: number, fate: Fate, status: number, body: Buffer): void {
    const sentMs = this.#sentMs[index]!;
    const dueMs = this.#plan.dueMs?.[index] ?? sentMs;
    const seenMs = this.#plan.dueMs === undefined ? dueMs : this.#seenMs[index]!;
    this.#isSettled[index] = 1;
    this.#ended += 1;
    this.#settled({
      index,
      dueMs,
      toolLateMs: Math.max(0, seenMs - dueMs),
      serviceMs: now - sentMs,
      latencyMs: now - dueMs,
      fate,
      status,
      body,
    });
  }

  /** Everything that was due and has no answer by now. */
  #giveUp(): void {
    if (this.#plan.dueMs !== undefined) this.#look();
    const now = monotonicMs() - this.#startMs;
    for (let index = 0; index < this.#due; index += 1) {
      if (this.#isSettled[index] === 1) continue;
      if (index >= this.#sent) this.#sentMs[index] = now;
      this.#settle(index, now, Fate.unanswered, 0, NO_BODY);
    }
  }
}
