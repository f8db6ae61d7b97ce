/** The commands for a cluster, and its table. */
import type { OperationOutput } from '../admin/operation-table.ts';
import { aligned } from '../common/terminal.ts';
import { command } from './operator-commands.ts';

const MIB = 2 ** 20;
const mebibytes = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

export const status = command('GET /admin/cluster', () => ({}), shown);

export const handover = command(
  'POST /admin/cluster/handover',
  ([to]) => (to === undefined ? {} : { to }),
  ({ from, ms, to }) => `${to} leads, ${ms} ms after ${from}`,
);

export const defrag = command(
  'POST /admin/cluster/defrag',
  ([member = '']) => ({ member }),
  ({ after_bytes: after, before_bytes: before, member }) =>
    `${member}: ${mebibytes(before)} before, ${mebibytes(after)} after`,
);

function shown({ etcd, nodes }: OperationOutput<'GET /admin/cluster'>): string[] {
  const text = (value: number | undefined): string => (value === undefined ? '-' : `${value}`);
  const rows = nodes.map((node) => [
    node.node,
    node.role ?? '-',
    text(node.epoch),
    text(node.applied),
    node.behind_ms === undefined ? '-' : `${node.behind_ms} ms`,
    node.sequence === undefined ? '-' : `${node.sequence} ${(node.digest! >>> 0).toString(16)}`,
    node.may_lead ? 'member' : 'replica',
    node.state,
    node.address,
  ]);
  const head = ['node', 'role', 'epoch', 'applied', 'behind', 'log', 'kind', 'state', 'address'];
  const members = etcd.map(({ leads, live_bytes, member, used_bytes }) => [
    ...[member, leads ? 'leader' : 'follower', mebibytes(used_bytes), mebibytes(live_bytes)],
  ]);
  return [
    ...aligned([head, ...rows]),
    '',
    ...aligned([['etcd', 'role', 'file', 'in use'], ...members]),
  ];
}
