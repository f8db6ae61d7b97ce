/**
 * The sending processes of a run, seen from the one that counts.
 * Thread: the tool's only one.
 * Non-goals: figures (figures.ts).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FromChild, Job, ToChild } from './job.ts';
import { monotonicMs } from './pacer.ts';

const SUFFIX = extname(fileURLToPath(import.meta.url));
const SCRIPT = resolve(import.meta.dirname, `measure-child${SUFFIX}`);
/** Between the start message and the start: every process has received it by then. */
const START_DELAY_MS = 200;

export interface FleetEvents {
  /** Requests signed so far, of all processes. */
  readonly signed: (requests: number) => void;
  /** Rows of samples.ts of one process, and how many requests of all of them wait. */
  readonly samples: (rows: Float64Array, waiting: number) => void;
}

export class Fleet {
  readonly outcomes = new Map<string, number>();
  readonly #events: FleetEvents;
  readonly #children: readonly ChildProcess[];
  readonly #signed: number[];
  readonly #waiting: number[];
  #ready = 0;
  #done = 0;
  #problem: string | undefined;
  #wake: () => void = () => undefined;

  constructor(jobs: readonly Job[], events: FleetEvents) {
    this.#events = events;
    this.#signed = jobs.map(() => 0);
    this.#waiting = jobs.map(() => 0);
    this.#children = jobs.map((job, index) => this.#start(job, index));
    process.once('exit', () => this.stop());
  }

  /** Resolves when every process has prepared its requests and opened its connections. */
  ready(): Promise<void> {
    return this.#until(() => this.#ready === this.#children.length);
  }

  /** Sends everything; resolves when every process is done. */
  async send(): Promise<void> {
    const startMs = monotonicMs() + START_DELAY_MS;
    for (const child of this.#children) this.#tell(child, { kind: 'go', startMs });
    await this.#until(() => this.#done === this.#children.length);
  }

  stop(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }

  #start(job: Job, index: number): ChildProcess {
    const child = fork(SCRIPT, { serialization: 'advanced' });
    child.on('message', (message: FromChild) => this.#hear(message, index));
    child.on('exit', (code, signal) => {
      if (this.#done === this.#children.length) return;
      this.#problem ??= `a sending process ended with ${code ?? signal}`;
      this.#wake();
    });
    this.#tell(child, { kind: 'prepare', job });
    return child;
  }

  #tell(child: ChildProcess, message: ToChild): void {
    child.send(message);
  }

  #hear(message: FromChild, index: number): void {
    if (message.kind === 'signed') {
      this.#signed[index] = message.requests;
      this.#events.signed(sum(this.#signed));
    } else if (message.kind === 'samples') {
      this.#waiting[index] = message.waiting;
      this.#events.samples(message.rows, sum(this.#waiting));
    } else if (message.kind === 'ready') {
      this.#ready += 1;
    } else if (message.kind === 'done') {
      this.#done += 1;
      for (const [outcome, orders] of message.outcomes) {
        this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + orders);
      }
    } else {
      this.#problem ??= message.problem;
    }
    this.#wake();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#problem !== undefined) throw new Error(this.#problem);
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
