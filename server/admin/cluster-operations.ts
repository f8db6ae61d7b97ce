/**
 * Operations on the cluster of a node.
 *
 * Thread: the I/O thread.
 */
import type { Static } from '../common/schema.ts';
import type { ClusterAnswer, DefragAnswer, HandoverAnswer } from './cluster-schemas.ts';
import { type Caller, OperationRefused } from './operation-row.ts';
import type { OperationHandlers } from './operation-table.ts';

export type ClusterView = Static<typeof ClusterAnswer>;

/** What a node can do for the operator of its cluster; a text says why not. */
export interface ClusterControl {
  view(): Promise<ClusterView>;
  /** Resolves once another node leads. `to`: undefined = the one that is least behind. */
  handOver(to: string | undefined, caller: Caller): Promise<Static<typeof HandoverAnswer> | string>;
  defragment(member: string): Promise<Static<typeof DefragAnswer> | string>;
}

type ClusterOperation =
  | 'GET /admin/cluster'
  | 'POST /admin/cluster/handover'
  | 'POST /admin/cluster/defrag';

/** @param control undefined without CLUSTER */
export function clusterOperations(
  control: ClusterControl | undefined,
): OperationHandlers<ClusterOperation> {
  const none = new OperationRefused(409, 'no cluster', 'this node runs without CLUSTER');
  const orRefused = <T extends object>(result: T | string) =>
    typeof result === 'string' ? new OperationRefused(409, 'not possible now', result) : result;
  return {
    'GET /admin/cluster': () => control?.view() ?? none,
    'POST /admin/cluster/handover': async ({ to }, caller) =>
      control === undefined ? none : orRefused(await control.handOver(to, caller)),
    'POST /admin/cluster/defrag': async ({ member }) =>
      control === undefined ? none : orRefused(await control.defragment(member)),
  };
}
