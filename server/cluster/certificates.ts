/**
 * The certificates by which this node and etcd know each other, checked before they are used: what is wrong with a file is
 * said at the start, by the name of its setting.
 *
 * Thread: the I/O thread, at a start.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EtcdTls } from '../../storage/replicated-log/etcd-access.ts';
import type { Config } from '../config/config.ts';
import { SettingsRefused } from '../config/settings-refused.ts';

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** @param now unix milliseconds @param warn of what another clock, or etcd, may see otherwise */
export function readCertificates(
  config: Pick<Config, 'clusterCa' | 'clusterCert' | 'clusterKey'>,
  now: number,
  warn: (line: string) => void,
): EtcdTls {
  const { clusterCa, clusterCert, clusterKey } = config;
  const ca = clusterCa === '' ? undefined : pemOf('CLUSTER_CA', clusterCa);
  if (ca !== undefined) certificatesOf('CLUSTER_CA', clusterCa, ca, now, warn);
  if (clusterCert === '') return ca === undefined ? {} : { ca };
  const cert = pemOf('CLUSTER_CERT', clusterCert);
  const key = pemOf('CLUSTER_KEY', clusterKey);
  const [own] = certificatesOf('CLUSTER_CERT', clusterCert, cert, now, warn);
  const secret = attempt(
    'CLUSTER_KEY',
    clusterKey,
    'is no private key in PEM without a password',
    () => createPrivateKey(key),
  );
  if (!own!.checkPrivateKey(secret)) {
    throw new SettingsRefused(
      `CLUSTER_KEY ${clusterKey} is not the key of CLUSTER_CERT ${clusterCert}`,
    );
  }
  return { ...(ca && { ca }), cert, key };
}

function pemOf(variable: string, path: string): Buffer {
  return attempt(variable, path, 'cannot be read', () => readFileSync(path));
}

function certificatesOf(
  variable: string,
  path: string,
  pem: Buffer,
  now: number,
  warn: (line: string) => void,
): readonly X509Certificate[] {
  const found = attempt(variable, path, 'holds a certificate that is none', () =>
    (pem.toString('latin1').match(BLOCK) ?? []).map((block) => new X509Certificate(block)),
  );
  if (found.length === 0)
    throw new SettingsRefused(`${variable} ${path} holds no certificate in PEM`);
  for (const { validFrom, validTo } of found) {
    if (Date.parse(validTo) < now) warn(`${variable} ${path} has expired: ${validTo}`);
    if (Date.parse(validFrom) > now) warn(`${variable} ${path} is not valid yet: ${validFrom}`);
  }
  return found;
}

function attempt<T>(variable: string, path: string, problem: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new SettingsRefused(`${variable} ${path} ${problem}: ${(error as Error).message}`);
  }
}
