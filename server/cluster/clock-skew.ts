/**
 * Judges the clock of this node by those of the others. Rules: docs/protocol.md#readiness. Pure.
 */

const SKEW_MS_MAX = 2_000;
/** Fewer clocks than this do not say which of them is wrong. */
const NODES_MIN = 3;

export interface MeasuredClock {
  readonly node: string;
  /** Milliseconds by which it is ahead of the clock of this node. */
  readonly aheadMs: number;
  /** The measure may be wrong by so much, to either side: half of the round trip. */
  readonly errorMs: number;
}

/** Milliseconds that this node is ahead of most nodes, or of one; `wrong` where that makes it unready. */
export interface ClockSkew {
  readonly ms: number;
  readonly verdict: 'wrong' | 'unknown' | 'right';
  readonly text: string;
}

/**
 * `wrong`: most of three nodes or more have the time of their median, and this one has not. `unknown`: clocks differ, and
 * nothing says which one is right.
 */
export function clockSkew(others: readonly MeasuredClock[]): ClockSkew {
  const bound = SKEW_MS_MAX + Math.max(0, ...others.map(({ errorMs }) => errorMs));
  const times = [0, ...others.map(({ aheadMs }) => aheadMs)].sort((a, b) => a - b);
  const median = times[Math.floor((times.length - 1) / 2)]!;
  const agreeing = times.filter((time) => Math.abs(time - median) <= bound).length;
  const isKnown = times.length >= NODES_MIN && 2 * agreeing > times.length;
  if (isKnown && Math.abs(median) <= bound) return { ms: -median, verdict: 'right', text: '' };
  const way = median > 0 ? 'behind' : 'ahead of';
  const text = `the clock of this node is ${seconds(median)} ${way} the median of ${times.length} nodes`;
  if (isKnown) return { ms: -median, verdict: 'wrong', text };
  const far = others.find(({ aheadMs }) => Math.abs(aheadMs) > bound);
  if (far === undefined) return { ms: 0, verdict: 'right', text: '' };
  const { aheadMs, node } = far;
  return {
    ms: -aheadMs,
    verdict: 'unknown',
    text: `the clocks of this node and of ${node} differ by ${seconds(aheadMs)}: ${times.length} nodes do not say which one is wrong`,
  };
}

function seconds(ms: number): string {
  return `${(Math.abs(ms) / 1_000).toFixed(1)} s`;
}
