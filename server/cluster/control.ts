/**
 * Commands of the operator of a cluster. The state of the others is what they answer now to GET /status.
 *
 * Thread: the I/O thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdClient } from '../../storage/replicated-log/etcd-client.ts';
import { makeRoom, membersOf } from '../../storage/replicated-log/make-room.ts';
import type { ClusterControl } from '../admin/cluster-operations.ts';
import type { NodeView } from '../admin/cluster-schemas.ts';
import { barsLead } from '../orders/intake/pauses.ts';
import type { Announcements } from './announced.ts';
import type { Roles } from './roles.ts';

/** The fields of GET /status that the table shows. */
interface Status {
  readonly status: string;
  readonly paused: readonly { readonly reason: string }[];
  readonly log: { readonly sequence: number; readonly digest: number };
  readonly cluster: {
    readonly role: 'leader' | 'follower';
    readonly epoch: number;
    readonly applied: number;
    readonly behind_ms: number;
    readonly catalog_missing: string | null;
  } | null;
}

const LIST_MS = 2_000;
const ANSWER_MS = 1_000;
const RECENT_MS = 1_000;
/** Multiples of CLUSTER_SILENCE_MS: longest time without a leader after a handover. */
const LED = 4;
const LOOK_MS = 2;

export interface ControlOptions {
  readonly node: string;
  readonly silenceMs: number;
  readonly roles: Roles;
  readonly announcements: Announcements;
  readonly etcd: EtcdClient;
}

export function controlOf(options: ControlOptions): ClusterControl {
  const { etcd, node, roles, silenceMs } = options;
  return {
    async view() {
      const [nodes, members] = await Promise.all([nodesOf(options.announcements), membersOf(etcd)]);
      return {
        nodes,
        etcd: members.map(({ isLeader, liveBytes, member, usedBytes }) => ({
          member,
          leads: isLeader,
          used_bytes: usedBytes,
          live_bytes: liveBytes,
        })),
      };
    },

    async handOver(to, { actor, isAudited }) {
      if (roles.role !== 'leading') return `it does not lead: ask ${roles.leader?.node ?? 'later'}`;
      const next = nextOf(await askedNodes(options.announcements), node, to);
      if ('problem' in next) return next.problem;
      const began = performance.now();
      await roles.handOver(next.node, { by: actor, reasons: [], isAudited });
      while (roles.leader === undefined || roles.leader.node === node) {
        if (performance.now() - began > LED * silenceMs) return 'nobody leads yet';
        await sleep(LOOK_MS);
      }
      return { from: node, to: roles.leader.node, ms: Math.ceil(performance.now() - began) };
    },

    async defragment(member) {
      const made = await makeRoom(etcd, member);
      if (made === undefined) {
        const names = (await membersOf(etcd)).map((it) => it.member).join(', ');
        return `${member} does not answer, or is no member; there are ${names}`;
      }
      const { after, before } = made;
      return { member, before_bytes: before.usedBytes, after_bytes: after.usedBytes };
    },
  };
}

/** Returns a function that shows the nodes of a moment ago, for repeated reads. */
export function recentNodes(announcements: Announcements): () => readonly NodeView[] {
  let rows: readonly NodeView[] = [];
  let askedAt = -Infinity;
  return () => {
    const now = performance.now();
    if (now - askedAt > RECENT_MS) {
      askedAt = now;
      nodesOf(announcements).then(
        (found) => (rows = found),
        () => (rows = []),
      );
    }
    return rows;
  };
}

function nextOf(
  nodes: readonly AskedNode[],
  own: string,
  to: string | undefined,
): { readonly node: string } | { readonly problem: string } {
  const able = nodes
    .filter(({ isAble, view }) => isAble && view.node !== own)
    .sort((a, b) => b.view.applied! - a.view.applied!)
    .map(({ view }) => view);
  const next = to === undefined ? able[0] : able.find((it) => it.node === to);
  if (next !== undefined) return next;
  const found = nodes.find(({ view }) => view.node === to);
  if (found !== undefined) return { problem: `${to} cannot lead: ${found.view.state}` };
  return { problem: to === undefined ? 'no other node can lead' : `there is no node ${to}` };
}

interface AskedNode {
  readonly view: NodeView;
  /** A follower without a reason of its own against leading. */
  readonly isAble: boolean;
}

export async function nodesOf(announcements: Pick<Announcements, 'all'>): Promise<NodeView[]> {
  return (await askedNodes(announcements)).map(({ view }) => view);
}

async function askedNodes(announcements: Pick<Announcements, 'all'>): Promise<AskedNode[]> {
  const announced = await announcements.all(LIST_MS);
  const rows = [...announced].sort(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(
    rows.map(async ([node, { advertise, mayLead }]) => {
      const common = { node, address: advertise, may_lead: mayLead };
      try {
        const signal = AbortSignal.timeout(ANSWER_MS);
        const answer = await fetch(new URL('/status', advertise), { signal });
        const status = (await answer.json()) as Status;
        return { view: { ...common, ...shown(status) }, isAble: mayLead && isAble(status) };
      } catch (error) {
        const { cause, message } = error as Error;
        const state = (cause as Error | undefined)?.message ?? message;
        return { view: { ...common, state }, isAble: false };
      }
    }),
  );
}

function isAble({ cluster, paused }: Status): boolean {
  if (cluster?.role !== 'follower' || cluster.catalog_missing !== null) return false;
  return !paused.some(({ reason }) => barsLead(reason));
}

function shown({ cluster, log, paused, status }: Status) {
  if (cluster === null) return { state: 'it runs without CLUSTER' };
  const { applied, behind_ms, catalog_missing, epoch, role } = cluster;
  const reasons = paused.map(({ reason }) => reason).join(', ');
  const state = [
    reasons === '' ? status : `${status} (${reasons})`,
    ...(catalog_missing === null ? [] : ['an older catalog']),
  ];
  return { state: state.join(', '), role, epoch, applied, behind_ms, ...log };
}
