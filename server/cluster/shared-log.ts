/** The log that the nodes of a cluster share, as the configuration names it. Thread: the I/O thread. */

import type { EtcdAccess } from '../../storage/replicated-log/etcd-access.ts';
import { EtcdClient } from '../../storage/replicated-log/etcd-client.ts';
import { EtcdLog } from '../../storage/replicated-log/etcd-log.ts';
import type { Log } from '../common/logger.ts';
import type { Config } from '../config/config.ts';
import { readCertificates } from './certificates.ts';
import type { PeerSecrets } from './peers/secure.ts';

const MIB = 2 ** 20;
const FIRST_ANSWER_MS = 1_000;

export function secretsOf({
  clusterSecret: current,
  clusterSecretPrevious: previous,
}: Pick<Config, 'clusterSecret' | 'clusterSecretPrevious'>): PeerSecrets {
  return { current, previous };
}

export interface SharedLog {
  readonly etcd: EtcdClient;
  readonly replicated: EtcdLog;
}

/**
 * Does not wait for it to answer; members that do not are named within a second. Throws SettingsRefused where the
 * certificates of this node are of no use.
 */
export async function openSharedLog(config: Config, print: Log): Promise<SharedLog> {
  const { cluster, clusterKeepMb, clusterPassword: password, clusterUser: name, nodeId } = config;
  const warn = (line: string): void => print('warn', line);
  const certificates = cluster!.isSecure ? readCertificates(config, Date.now(), warn) : {};
  const access: EtcdAccess = { ...certificates, ...(name !== '' && { user: { name, password } }) };
  // Nodes begin with different members of etcd.
  const first = Buffer.from(nodeId).reduce((sum, byte) => sum + byte, 0);
  const etcd = await EtcdClient.open(cluster!, access, first);
  void etcd.problems(`${cluster!.name}/tail`, FIRST_ANSWER_MS).then((problems) => {
    for (const problem of problems) warn(`etcd: ${problem}`);
  });
  return { etcd, replicated: new EtcdLog(etcd, cluster!.name, clusterKeepMb * MIB, warn) };
}
