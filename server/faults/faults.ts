/**
 * Faults in force: made, matched, counted, ended. A fault ends by its count, its time, or clear(); one of
 * the venue is a control record, whose times are those of the clock.
 *
 * Thread: I/O. Not here: what a fault does (request-faults.ts, server/streams/faulty-sockets.ts).
 */
import { randomInt } from 'node:crypto';
import { ALL_FAULTS } from '../../engine/commands.ts';
import type { FaultDecision } from '../../storage/control-records/control-records.ts';
import { seededRandom } from '../common/seeded-random.ts';
import {
  FAULT_BOUNDS,
  FAULT_KINDS,
  type FaultKind,
  faultRow,
  isFaultKind,
  KEY_FAULTS_MAX,
  POST_ONLY_MS_MIN,
  SEEDS,
} from './kinds.ts';
import type { VenueFaults } from './venue-faults.ts';

/** Filters of a fault, all in lower case; all that are named must match. */
export interface FaultTarget {
  /** An API key. */
  readonly key?: string | undefined;
  /** Address of the wallet of a key. */
  readonly wallet?: string | undefined;
  /** A condition id. */
  readonly market?: string | undefined;
}

/** A checked order to make a fault (fault-input.ts). */
export interface FaultSpec {
  readonly kind: FaultKind;
  readonly target: FaultTarget;
  /** Uses; `undefined` = not bounded. */
  readonly count: number | undefined;
  /** Seconds of the first phase; `undefined` = until it is cleared. */
  readonly seconds: number | undefined;
  readonly probability: number;
  /** `undefined` = drawn, and shown. */
  readonly seed: number | undefined;
  readonly ms: number;
}

interface Phase {
  readonly name: string;
  /** Unix milliseconds; Infinity = until the fault is cleared. */
  readonly until: number;
}

export interface Fault extends FaultSpec {
  readonly id: string;
  /** Number in commands of the engine. */
  readonly number: number;
  /** The key that made it; `undefined` = an operator. */
  readonly owner: string | undefined;
  /** Unix milliseconds. */
  readonly since: number;
  readonly phases: readonly Phase[];
  readonly seed: number;
  /** Uses so far. */
  readonly uses: number;
}

interface Held extends Fault {
  uses: number;
  readonly draw: () => number;
  timer: NodeJS.Timeout | undefined;
}

/** Request or connection that a fault may strike. */
export interface Subject {
  /** '' without one. */
  readonly key: string;
  /** Lower case; '' without one. */
  readonly wallet: string;
  /** @param condition as the target names it */
  readonly isOf: (condition: string) => boolean;
}

interface FaultParts {
  readonly venue: VenueFaults;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Decides trades that a fault has struck, or with ALL_FAULTS all that wait. */
  readonly settle: (fault: number) => Promise<void>;
  readonly log: (line: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Counts by kind. */
export interface FaultFacts {
  readonly active: readonly (readonly [kind: FaultKind, count: number])[];
  /** Since the start. */
  readonly uses: readonly (readonly [kind: FaultKind, count: number])[];
}

type Change = (fault: Fault, what: 'began' | 'ended') => void;

const MS = 1_000;
/** Longest delay of a timer of Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Faults {
  /** Since the start, by kind. */
  private readonly uses = new Map<FaultKind, number>(FAULT_KINDS.map((kind) => [kind, 0]));
  private readonly parts: FaultParts;
  private readonly held = new Map<FaultKind, Held[]>(FAULT_KINDS.map((kind) => [kind, []]));
  private readonly changes: Change[] = [];
  /** Newest fault of the venue of each kind, also one that has ended. */
  private readonly newestOfVenue = new Map<FaultKind, Fault>();
  /** Ends of the waits of a fault, which may have ended before them. */
  private readonly waits = new Map<Fault, Set<() => void>>();
  /** Faults that have struck trades, until when the newest of these is decided, in unix milliseconds. */
  private readonly deciding = new Map<Fault, number>();
  private newest = 0;
  private isClosed = false;

  constructor(parts: FaultParts) {
    this.parts = parts;
    for (const [kind, decision] of parts.venue.list()) this.takeVenue(kind, decision);
    parts.venue.onChange = (kind, decision) => this.takeVenue(kind, decision);
  }

  /** Calls back when a fault begins or ends. */
  whenChanged(change: Change): void {
    this.changes.push(change);
  }

  /** False where the maker has as many faults as it may. */
  hasRoom(owner: string | undefined): boolean {
    const all = this.list();
    const own = all.filter((fault) => fault.owner === owner).length;
    if (owner === undefined) return own < FAULT_BOUNDS.operator.faults;
    const ofKeys = all.filter((fault) => fault.owner !== undefined).length;
    return own < FAULT_BOUNDS.key.faults && ofKeys < KEY_FAULTS_MAX;
  }

  /** Resolves once it is in force; a fault of the venue is durable by then. */
  async add(spec: FaultSpec, owner?: string): Promise<Fault> {
    if (!isOfVenue(spec)) {
      const fault = this.made(spec, owner, this.parts.now());
      this.begin(fault);
      return fault;
    }
    const { kind, ms, seconds = 0 } = spec;
    await this.parts.venue.put(kind, { since: this.parts.now(), seconds, ms });
    // A clear, or its end, may have come since.
    return this.newestOfVenue.get(kind)!;
  }

  /** @param owner those of one key; by default all */
  list(owner?: string): readonly Fault[] {
    const all = [...this.held.values()].flat();
    return owner === undefined ? all : all.filter((fault) => fault.owner === owner);
  }

  /**
   * Ends faults with all their phases and waits, those also of a fault that has ended. Returns how many faults.
   * @param id the only one to end
   * @param owner the key whose faults end; by default those of everybody
   */
  async clear(id?: string, owner?: string): Promise<number> {
    const isMeant = (fault: Fault): boolean =>
      (id === undefined || fault.id === id) && (owner === undefined || fault.owner === owner);
    this.forgetDecided();
    const waiting = [...this.waits.keys(), ...this.deciding.keys()];
    const ended = new Set([...this.list(), ...waiting].filter(isMeant));
    for (const fault of ended) {
      if (fault.id === fault.kind) await this.parts.venue.put(fault.kind, undefined);
      else this.end(fault as Held, 'cleared');
      this.endWaits(fault);
      if (this.deciding.delete(fault)) await this.parts.settle(fault.number);
    }
    // Trades that a fault of an earlier start has struck wait too.
    if (id === undefined && owner === undefined) await this.parts.settle(ALL_FAULTS);
    return ended.size;
  }

  /** Returns the first fault of a kind that strikes, without counting it. */
  match(kind: FaultKind, subject: Subject): Fault | undefined {
    for (const fault of this.held.get(kind)!) {
      if (!isInTarget(fault.target, subject)) continue;
      if (faultRow(kind).decides === true || this.draws(fault)) return fault;
    }
    return undefined;
  }

  /** Draws whether the fault strikes, or of a kind that decides its outcome. */
  draws(fault: Fault): boolean {
    return (fault as Held).draw() < fault.probability;
  }

  /** True where a fault of the kind has the subject in its target. */
  reaches(kind: FaultKind, subject: Subject): boolean {
    return this.held.get(kind)!.some(({ target }) => isInTarget(target, subject));
  }

  /** Counts a use. Returns false where the fault has ended meanwhile. */
  use(fault: Fault): boolean {
    const held = fault as Held;
    if (faultRow(fault.kind).decides === true) {
      this.forgetDecided();
      this.deciding.set(fault, this.parts.now() + fault.ms);
    }
    if (!this.held.get(fault.kind)!.includes(held)) return false;
    held.uses += 1;
    this.uses.set(fault.kind, this.uses.get(fault.kind)! + 1);
    if (held.uses === held.count) this.end(held, 'all its uses are made');
    return true;
  }

  /** match() and use(). */
  take(kind: FaultKind, subject: Subject): Fault | undefined {
    const fault = this.match(kind, subject);
    if (fault !== undefined) this.use(fault);
    return fault;
  }

  isActive(kind: FaultKind): boolean {
    return this.held.get(kind)!.length > 0;
  }

  facts(): FaultFacts {
    return {
      active: FAULT_KINDS.map((kind) => [kind, this.held.get(kind)!.length]),
      uses: [...this.uses],
    };
  }

  phaseOf(fault: Fault): Phase {
    const now = this.parts.now();
    return fault.phases.find(({ until }) => now < until) ?? fault.phases.at(-1)!;
  }

  /** Resolves after the milliseconds of the fault, or as soon as it is cleared; at once after close(). */
  wait(fault: Fault): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    const ends = this.waits.get(fault) ?? new Set();
    this.waits.set(fault, ends);
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        ends.delete(end);
        if (ends.size === 0) this.waits.delete(fault);
        resolve();
      };
      const timer = setTimeout(end, fault.ms);
      ends.add(end);
    });
  }

  /** Ends waits and timers. */
  close(): void {
    this.isClosed = true;
    for (const fault of this.list() as Held[]) clearTimeout(fault.timer);
    for (const fault of [...this.waits.keys()]) this.endWaits(fault);
  }

  private forgetDecided(): void {
    const now = this.parts.now();
    for (const [fault, until] of this.deciding) if (until < now) this.deciding.delete(fault);
  }

  private endWaits(fault: Fault): void {
    for (const end of [...(this.waits.get(fault) ?? [])]) end();
  }

  private ofVenue(kind: FaultKind): Held | undefined {
    return this.held.get(kind)!.find(({ id }) => id === kind);
  }

  private takeVenue(kind: string, decision: FaultDecision | undefined): void {
    // A newer version may know more kinds.
    if (!isFaultKind(kind)) return;
    const before = this.ofVenue(kind);
    if (before !== undefined) this.end(before, decision === undefined ? 'cleared' : 'replaced');
    if (decision === undefined) return;
    const { ms, seconds, since } = decision;
    const open = { target: {}, count: undefined, probability: 1, seed: 0 };
    const spec = { ...open, kind, ms, seconds: seconds === 0 ? undefined : seconds };
    const fault = this.made(spec, undefined, since);
    this.newestOfVenue.set(kind, fault);
    if (fault.phases.at(-1)!.until > this.parts.now()) this.begin(fault);
  }

  private made(spec: FaultSpec, owner: string | undefined, since: number): Held {
    const { kind } = spec;
    const seed = spec.seed ?? randomInt(SEEDS);
    this.newest += 1;
    return {
      ...spec,
      id: isOfVenue(spec) ? kind : `f${this.newest}`,
      number: this.newest,
      owner,
      since,
      seed,
      phases: phasesOf(spec, since),
      draw: seededRandom(seed),
      uses: 0,
      timer: undefined,
    };
  }

  private begin(fault: Held): void {
    const { kind } = fault;
    this.held.get(kind)!.push(fault);
    this.parts.log(`fault ${fault.id}: ${kind} begins`, fieldsOf(fault));
    this.watch(fault);
    for (const change of this.changes) change(fault, 'began');
  }

  /** Ends the fault at the end of its last phase. */
  private watch(fault: Held): void {
    const { until } = fault.phases.at(-1)!;
    if (until === Infinity) return;
    const left = until - this.parts.now();
    if (left <= 0) {
      this.end(fault, 'its time is over');
      return;
    }
    fault.timer = setTimeout(() => this.watch(fault), Math.min(left, TIMER_MS_MAX));
    fault.timer.unref();
  }

  private end(fault: Held, why: string): void {
    const held = this.held.get(fault.kind)!;
    const at = held.indexOf(fault);
    if (at < 0) return;
    held.splice(at, 1);
    clearTimeout(fault.timer);
    const { id, kind, uses } = fault;
    this.parts.log(`fault ${id}: ${kind} ended: ${why}`, { fault: id, kind, uses });
    for (const change of this.changes) change(fault, 'ended');
  }
}

/** True for a fault that is a control record. */
export function isOfVenue({ kind, target }: Pick<FaultSpec, 'kind' | 'target'>): boolean {
  return faultRow(kind).ofVenue && Object.values(target).every((value) => value === undefined);
}

function phasesOf({ kind, seconds }: FaultSpec, since: number): readonly Phase[] {
  const ms = seconds === undefined ? Infinity : seconds * MS;
  let until = since;
  return faultRow(kind).phases.map((name, i) => {
    until += i === 0 ? ms : Math.max(ms, POST_ONLY_MS_MIN);
    return { name, until };
  });
}

/** True where all filters that are named match. */
export function isInTarget({ key, market, wallet }: FaultTarget, subject: Subject): boolean {
  if (key !== undefined && key !== subject.key) return false;
  if (wallet !== undefined && wallet !== subject.wallet) return false;
  return market === undefined || subject.isOf(market);
}

function fieldsOf({ count, id, kind, ms, owner, probability, seconds, seed, target }: Fault) {
  const by = owner === undefined ? 'operator' : 'key';
  return { fault: id, kind, by, ...target, count, seconds, probability, seed, ms };
}
