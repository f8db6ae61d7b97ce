/**
 * Reasons of a cluster's node for not being ready, wrong clocks, and the choice of the next leader,
 * without a network.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clockSkew } from '../../server/cluster/clock-skew.ts';
import type { NodeState, WatchedNode } from '../../server/cluster/node-watch.ts';
import { Readiness } from '../../server/cluster/readiness.ts';
import type { Leader } from '../../server/cluster/role-state.ts';
import { StepDown } from '../../server/cluster/step-down.ts';
import { barsLead, PAUSE_REASONS, PAUSES, type Pause } from '../../server/orders/intake/pauses.ts';
import { until } from '../common/node-harness.ts';
import { seeded } from '../storage/stored-exchange.ts';

const SKEW_MS_MAX = 2_000;
const STATE: NodeState = { leads: false, applied: 10, reasons: [], wall: 0 };
const LEADER: Leader = { node: 'n1', advertise: 'http://n1', peers: 'peers://n1:1', epoch: 1 };

function watched(node: string, more: Partial<WatchedNode> = {}): WatchedNode {
  const peers = `peers://${node}:1`;
  return { node, peers, mayLead: true, state: STATE, clock: undefined, silentMs: 0, ...more };
}

function clocks(...ahead: readonly number[]) {
  return ahead.map((aheadMs, i) => ({ node: `n${i + 1}`, aheadMs, errorMs: 5 }));
}

function staged() {
  const lines: string[] = [];
  const at = {
    nodes: [watched('n1', { state: { ...STATE, leads: true } })],
    leads: false,
    leader: LEADER as Leader | undefined,
    isHeard: true,
    isStale: false,
    problem: undefined as string | undefined,
    emptyLog: undefined as string | undefined,
  };
  const readiness = new Readiness({
    watch: {
      find: (name) => at.nodes.find(({ node }) => node === name),
      nodes: () => at.nodes,
    },
    leads: () => at.leads,
    leader: () => at.leader,
    seesLeader: () => at.isHeard,
    isStale: () => at.isStale,
    logProblem: () => at.problem,
    emptyLog: () => at.emptyLog,
    print: (_, line) => void lines.push(line),
  });
  const codes = (): string[] => readiness.pauses().map(({ reason }) => reason);
  const looks = async (code: string): Promise<void> => {
    await until(() => {
      readiness.look();
      return codes().join() === code;
    });
  };
  return { at, readiness, lines, codes, looks };
}

test('a clock is wrong when most of three or more agree and it differs by more than two seconds', () => {
  const verdicts = (...ahead: readonly number[]) => clockSkew(clocks(...ahead)).verdict;
  assert.deepEqual(clockSkew(clocks(9_000, 9_100)), {
    ms: -9_000,
    verdict: 'wrong',
    text: 'the clock of this node is 9.0 s behind the median of 3 nodes',
  });
  assert.match(clockSkew(clocks(-4_000, -4_000)).text, /4\.0 s ahead of the median of 3 nodes$/);
  assert.equal(verdicts(SKEW_MS_MAX, SKEW_MS_MAX), 'right');
  assert.equal(verdicts(SKEW_MS_MAX + 5, SKEW_MS_MAX + 5), 'right', 'a measure may be that wrong');
  assert.equal(verdicts(SKEW_MS_MAX + 6, SKEW_MS_MAX + 6), 'wrong');
  // Another node is the wrong one.
  assert.equal(verdicts(0, 60_000), 'right');
  assert.equal(verdicts(), 'right');
});

test('no node is unready for its clock when two nodes differ, or no majority agrees', () => {
  const two = clockSkew(clocks(3_500));
  assert.deepEqual([two.verdict, two.ms], ['unknown', -3_500]);
  assert.match(two.text, /of n1 differ by 3\.5 s: 2 nodes do not say which one is wrong$/);
  assert.equal(clockSkew(clocks(100)).verdict, 'right');
  assert.equal(clockSkew(clocks(10_000, 20_000)).verdict, 'unknown');
  assert.equal(clockSkew(clocks(0, 10_000, 10_000)).verdict, 'unknown');
  assert.equal(clockSkew(clocks(10_000, 10_000, 10_000)).verdict, 'wrong');
});

test('some node of a cluster is ready for any clocks', () =>
  seeded(async (random) => {
    for (let i = 0; i < 500; i++) {
      const times = Array.from({ length: 2 + random.below(5) }, () => random.below(5) * 1_900);
      const verdicts = times.map((own) => {
        const others = times.filter((_, at) => at !== times.indexOf(own));
        return clockSkew(clocks(...others.map((time) => time - own))).verdict;
      });
      assert(
        verdicts.some((verdict) => verdict !== 'wrong'),
        times.join(),
      );
    }
  }));

test('a follower is ready while its leader answers and accepts orders', async () => {
  const { at, codes, looks, readiness } = staged();
  assert.deepEqual(codes(), ['unreachable'], 'it has not answered yet');
  await looks('');
  const leading = (reasons: readonly string[]) =>
    watched('n1', { state: { ...STATE, leads: true, reasons } });
  at.nodes = [leading(['log'])];
  readiness.look();
  assert.deepEqual(readiness.pauses(), [
    { reason: 'leader', detail: 'cluster: n1, which leads, is not ready: log' },
  ]);
  // A leader whose clock is wrong takes orders, and what it said before it led counts for nothing.
  for (const node of [
    leading(['clock-skew']),
    watched('n1', { state: { ...STATE, reasons: ['log'] } }),
  ]) {
    at.nodes = [node];
    assert.deepEqual(codes(), []);
  }
  // A node of an older version answers, and does not say.
  at.nodes = [watched('n1', { state: undefined })];
  assert.deepEqual(codes(), []);
});

test('a follower reports an unreachable leader, a missing leader, or its lag', async () => {
  const { at, codes, lines, looks, readiness } = staged();
  await looks('');
  assert.deepEqual(lines, [], 'a start says what it waits for by itself');
  readiness.started();
  at.nodes = [watched('n1', { silentMs: 5_000 })];
  assert.deepEqual(codes(), [], 'a handover takes less time');
  await looks('unreachable');
  at.isHeard = false;
  await looks('no-leader');
  at.leader = undefined;
  at.isHeard = true;
  await looks('no-leader');
  at.leads = true;
  await looks('');
  at.isStale = true;
  await looks('etcd');
  at.leads = false;
  at.leader = LEADER;
  at.nodes = [watched('n1')];
  await looks('catch-up');
  at.problem = 'no answer';
  await looks('etcd');
  at.emptyLog = 'the log is empty';
  await looks('empty-log');
  at.emptyLog = undefined;
  at.isStale = false;
  await looks('');
  const said = lines.join('\n');
  assert.match(said, /^cluster: n1, which leads, does not answer; requests that/m);
  assert.match(said, /^a node leads the cluster$/m);
  assert.match(said, /^the log is empty; reads only, marked as stale$/m);
});

test('a node with a wrong clock says so, and two nodes only warn', async () => {
  const { at, codes, lines, looks, readiness } = staged();
  await looks('');
  const [first, second] = clocks(9_000, 9_000);
  const leading = { ...STATE, leads: true };
  at.nodes = [watched('n1', { state: leading, clock: first! })];
  readiness.look();
  readiness.look();
  assert.deepEqual(codes(), []);
  assert.equal(lines.filter((line) => /differ by 9\.0 s/.test(line)).length, 1);
  at.nodes = [at.nodes[0]!, watched('n2', { clock: second! })];
  readiness.look();
  assert.deepEqual(codes(), ['clock-skew']);
  assert.equal(readiness.skewMs, -9_000);
  // It stays wrong when one of the others is gone, until they agree or none is left.
  const [leader] = at.nodes;
  at.nodes = [leader!, watched('n2', { clock: second!, silentMs: 5_001 })];
  readiness.look();
  assert.deepEqual(codes(), ['clock-skew']);
  at.nodes = [{ ...leader!, clock: clocks(10)[0]! }];
  readiness.look();
  assert.deepEqual(codes(), []);
});

test('the next leader is a member that answers, is ready, and has applied most', () => {
  const state = (more: Partial<NodeState>) => ({ state: { ...STATE, ...more } });
  const nodes = [
    watched('replica', { mayLead: false, ...state({ applied: 99 }) }),
    watched('silent', { silentMs: 5_000, ...state({ applied: 98 }) }),
    watched('old', { state: undefined }),
    watched('full', state({ applied: 97, reasons: ['log'] })),
    watched('newer', state({ applied: 96, reasons: ['a code of a newer version'] })),
    watched('leading', state({ applied: 95, leads: true })),
    watched('behind', state({ applied: 11 })),
    watched('best', state({ applied: 12, reasons: ['operator'] })),
  ];
  const handedTo = (among: readonly WatchedNode[]): string | undefined => {
    let to: string | undefined;
    const handOver = async (next: string): Promise<void> => {
      to = next;
    };
    const pauses = (): Pause[] => [{ reason: 'log', detail: '' }];
    const rest = { node: 'n0', silenceMs: 500, leads: () => true, print: () => undefined };
    new StepDown({ ...rest, pauses, nodes: () => among, handOver }).look();
    return to;
  };
  assert.equal(handedTo(nodes), 'best');
  assert.equal(handedTo(nodes.slice(0, 6)), undefined);
  for (const code of PAUSE_REASONS) assert.equal(barsLead(code), PAUSES[code].concerns === 'node');
});

for (const reason of PAUSE_REASONS) {
  const { handsOver } = PAUSES[reason];
  test(`a leader with the reason ${reason} ${handsOver ? 'hands over' : 'keeps the lead'}`, async () => {
    const asked: unknown[] = [];
    const at = { pauses: [] as Pause[], nodes: [] as WatchedNode[], leads: true };
    const stepDown = new StepDown({
      node: 'n0',
      silenceMs: 500,
      print: () => undefined,
      leads: () => at.leads,
      pauses: () => at.pauses,
      nodes: () => at.nodes,
      handOver: async (...given) => void asked.push(given),
    });
    at.nodes = [watched('n1')];
    stepDown.look();
    assert.deepEqual(asked, [], 'nothing is wrong');
    at.pauses = [{ reason, detail: '' }];
    at.leads = false;
    stepDown.look();
    at.leads = true;
    at.nodes = [watched('n1', { state: { ...STATE, reasons: ['log'] } })];
    stepDown.look();
    assert.deepEqual(asked, [], 'there is nobody better');
    at.nodes = [watched('n1')];
    stepDown.look();
    stepDown.look();
    await sleep(0);
    const expected = ['n1', { by: 'n0', reasons: [reason], isAudited: false }];
    assert.deepEqual(asked, handsOver ? [expected] : []);
  });
}
