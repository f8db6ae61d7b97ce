/**
 * Operations on the cluster of a node.
 *
 * Thread: I/O.
 */

import type { Static } from '../common/schema.ts';
import {
  ClusterAnswer,
  DefragAnswer,
  DefragInput,
  HandoverAnswer,
  HandoverInput,
} from './cluster-schemas.ts';
import { type Caller, OperationRefused, operation } from './operation-row.ts';
import { NoInput } from './operation-schemas.ts';

type ClusterView = Static<typeof ClusterAnswer>;

/** Cluster actions for an operator; a text is the reason of a refusal. */
export interface ClusterControl {
  view(): Promise<ClusterView>;
  /** Resolves once another node leads. `to`: undefined = the node that is least behind. */
  handOver(to: string | undefined, caller: Caller): Promise<Static<typeof HandoverAnswer> | string>;
  defragment(member: string): Promise<Static<typeof DefragAnswer> | string>;
}

const NO_CLUSTER = new OperationRefused(409, 'no cluster', 'this node runs without CLUSTER');

function orRefused<T extends object>(result: T | string): T | OperationRefused {
  return typeof result === 'string'
    ? new OperationRefused(409, 'not possible now', result)
    : result;
}

/** `undefined` without CLUSTER. */
type ClusterService = ClusterControl | undefined;

export const CLUSTER_OPERATIONS = [
  operation(
    'GET /admin/cluster',
    {
      does: 'the nodes of the cluster, each as it answers now, and the members of etcd',
      input: NoInput,
      answer: ClusterAnswer,
    },
    (control: ClusterService) => () => control?.view() ?? NO_CLUSTER,
  ),
  operation(
    'POST /admin/cluster/handover',
    {
      does: 'gives the lead of the cluster to another node, by the node that leads',
      input: HandoverInput,
      answer: HandoverAnswer,
      auditedNext: true,
    },
    (control: ClusterService) =>
      async ({ to }, caller) =>
        control === undefined ? NO_CLUSTER : orRefused(await control.handOver(to, caller)),
  ),
  operation(
    'POST /admin/cluster/defrag',
    {
      does: 'has a member of etcd give free room back; it answers nothing meanwhile',
      input: DefragInput,
      answer: DefragAnswer,
      ofNode: true,
    },
    (control: ClusterService) =>
      async ({ member }) =>
        control === undefined ? NO_CLUSTER : orRefused(await control.defragment(member)),
  ),
];
