/**
 * Verdict on an attack from the well-behaved client's results and the node's state afterwards.
 *
 * Pure.
 */
import type { Attack, Attacked } from './attack.ts';
import type { Stretch } from './good-client.ts';
import type { Held } from './hostile-node.ts';

export const MIB = 2 ** 20;
const RATIO_MAX = 3;
/**
 * Milliseconds below which two p99 count as equal: the processors are shared with others, and with
 * the attacker. The time of an equally durable bare process replaces it where it is larger.
 */
const FLOOR_MS = 5;
/** Largest stall of a bare process, ms, that excuses a node: beyond it nothing can be measured. */
const BARE_MS_MAX = 100;
/**
 * Floor of the short form, ms, which runs beside other work of the machine for some seconds: it
 * finds a missing bound, after which orders take seconds or are not answered, and does not tell ten
 * milliseconds from thirty.
 */
const SHORT_FLOOR_MS = 750;
const GROWTH_SHARE = 0.1;
/** Growth of V8's young generation in each thread, with or without an attack. */
const GROWTH_FLOOR = 32 * MIB;
/** Bytes that the engine's tables and their copy touch for each row that an attack has filled. */
const ROW_BYTES = 1_024;
const HANDLES_MAX = 32;
const STREAM_BYTES_MAX = MIB;
const MS = 1_000;

export interface Latency {
  readonly quiet: number;
  readonly under: number;
  /** Milliseconds of a bare durable answer, during the attack. */
  readonly bare: number;
  readonly isShort: boolean;
}

export function p99(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))] ?? 0;
}

/** The p99 of the median of some stretches: a disturbed one does not decide. */
export function middleP99(stretches: readonly (readonly number[])[]): number {
  const sorted = stretches.map(p99).sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** Longest p99 that passes. */
export function boundOf({ bare, isShort, quiet }: Latency): number {
  if (isShort) return Math.max(RATIO_MAX * Math.max(quiet, bare), SHORT_FLOOR_MS);
  return RATIO_MAX * Math.max(quiet, Math.min(bare, BARE_MS_MAX), FLOOR_MS);
}

export function latencyProblem(latency: Latency): string | undefined {
  const bound = boundOf(latency);
  if (latency.under < bound) return undefined;
  const [under, quiet, bare, most] = [latency.under, latency.quiet, latency.bare, bound].map((ms) =>
    ms.toFixed(1),
  );
  return `p99 ${under} ms, quiet ${quiet}, a bare answer ${bare}: bound ${most}`;
}

export function refusalProblem({ requests, wrong }: Stretch): string | undefined {
  if (wrong.length > 0) return `${wrong.length} or more of ${requests} went wrong: ${wrong[0]}`;
  return requests === 0 ? 'the client sent nothing' : undefined;
}

export function lateProblem({ late, requests }: Stretch): string | undefined {
  return late === 0 ? undefined : `${late} of ${requests} were not answered in time`;
}

/** Growth of memory that has not been returned; `undefined` when there is none. */
export function memoryProblem(before: Held, after: Held): string | undefined {
  const rows = Math.max(0, after.rows - before.rows);
  const allowed =
    before.residentBytes +
    Math.max(GROWTH_SHARE * before.residentBytes, GROWTH_FLOOR) +
    rows * ROW_BYTES;
  if (after.residentBytes <= allowed) return undefined;
  const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
  return `memory ${mib(before.residentBytes)} to ${mib(after.residentBytes)} MiB, ${rows} rows`;
}

/** Other resources that have not been returned. */
export function heldProblem(before: Held, after: Held): string | undefined {
  if (after.handles > before.handles + HANDLES_MAX) {
    return `descriptors ${before.handles} to ${after.handles}`;
  }
  if (after.streamClients > before.streamClients)
    return `${after.streamClients} stream connections`;
  if (after.streamBytes > STREAM_BYTES_MAX) return `${after.streamBytes} bytes wait for streams`;
  if (after.queued > 0) return `${after.queued} requests are queued`;
  return after.ready === 200 ? undefined : `/ready answered ${after.ready}`;
}

/** Gains of the attacker beyond its allowance. */
export function gainProblem(
  {
    accountsMax = Number.POSITIVE_INFINITY,
    recoveriesPerSecond = Number.POSITIVE_INFINITY,
    servedMax = Number.POSITIVE_INFINITY,
  }: Attack,
  { answers, did }: Attacked,
  before: Held,
  after: Held,
): string | undefined {
  if (did === 0) return 'the attacker did nothing';
  const accounts = after.accounts - before.accounts;
  // What is not told is not borne.
  if (!(accounts <= accountsMax)) return `${accounts} accounts were added: bound ${accountsMax}`;
  const recoveries = after.recoveries - before.recoveries;
  const recoveriesMax = recoveriesPerSecond * (1 + (after.at - before.at) / MS);
  if (!(recoveries <= recoveriesMax)) {
    return `${recoveries} signers were recovered: bound ${recoveriesMax}`;
  }
  const served = answers['200'] ?? 0;
  return served > servedMax
    ? `${served} requests were answered 200: bound ${servedMax}`
    : undefined;
}
