/** The log that the nodes of a cluster share, as the configuration names it. Thread: the I/O thread. */
import { readFileSync } from 'node:fs';
import { EtcdLog } from '../../storage/cluster/etcd-log.ts';
import { EtcdClient } from '../../storage/etcd/client.ts';
import type { Config } from '../config/config.ts';

const MIB = 2 ** 20;

export interface SharedLog {
  readonly etcd: EtcdClient;
  readonly replicated: EtcdLog;
}

/** Does not wait for it to answer. */
export async function openSharedLog(config: Config): Promise<SharedLog> {
  const { cluster, clusterCa, clusterCert, clusterKeepMb, clusterKey, nodeId } = config;
  const file = (path: string) => (path === '' ? undefined : readFileSync(path));
  const [ca, cert, key] = [file(clusterCa), file(clusterCert), file(clusterKey)];
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  // Nodes begin with different members of etcd.
  const first = Buffer.from(nodeId).reduce((sum, byte) => sum + byte, 0);
  const etcd = await EtcdClient.open(cluster!, tls, first);
  return { etcd, replicated: new EtcdLog(etcd, cluster!.name, clusterKeepMb * MIB) };
}
