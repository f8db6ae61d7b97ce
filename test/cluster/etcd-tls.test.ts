/** The log on an etcd that wants certificates of its clients and shows one of its own. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { clientTls, Etcd, NO_ETCD } from '../../bench/common/etcd.ts';
import { EtcdLog } from '../../storage/cluster/etcd-log.ts';
import { NO_TAIL } from '../../storage/cluster/replicated-log.ts';
import { Unreachable } from '../../storage/log/log.ts';
import { appendNext, claimed } from './log-place.ts';

const NO_OPENSSL =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not installed';

/** An authority, and what it has signed for a server and a client. */
function makeCertificates(directory: string): void {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' });
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test');
  writeFileSync(join(directory, 'names'), 'subjectAltName=IP:127.0.0.1\n');
  for (const name of ['server', 'client']) {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', 'request', '-subj', `/CN=${name}`);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
    openssl('x509', '-req', '-in', 'request', ...signed, '-out', `${name}.pem`);
  }
}

test('a log over TLS takes a client with a certificate, and no other one', {
  skip: NO_ETCD ?? NO_OPENSSL,
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-tls-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  makeCertificates(directory);
  const etcd = await Etcd.start({ members: 1, tlsDirectory: directory });
  t.after(() => etcd.close());
  const { ca, ...own } = clientTls(directory);
  const log = new EtcdLog(await etcd.client(0, { ca: ca!, ...own }), 'test', 0);
  t.after(() => log.close());
  assert.deepEqual(await log.tail(5_000), NO_TAIL);
  await appendNext(await claimed(log));
  for (const tls of [{ ca: ca! }, {}]) {
    const stranger = new EtcdLog(await etcd.client(0, tls), 'test', 0);
    await assert.rejects(stranger.tail(1_500), Unreachable);
    await stranger.close();
  }
});
