import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { clientTls, Etcd, NO_ETCD } from '../../bench/common/etcd.ts';
import { readCertificates } from '../../server/cluster/certificates.ts';
import { openSharedLog } from '../../server/cluster/shared-log.ts';
import { readConfig } from '../../server/config/config.ts';
import { SettingsRefused } from '../../server/config/settings-refused.ts';
import { Unreachable } from '../../storage/log/log.ts';
import { explained } from '../../storage/replicated-log/etcd-explain.ts';
import { EtcdLog } from '../../storage/replicated-log/etcd-log.ts';
import { NO_TAIL } from '../../storage/replicated-log/replicated-log.ts';
import { makeCertificates, NO_OPENSSL } from '../common/certificates.ts';
import { appendNext, claimed } from './log-place.ts';

const NO_ETCDCTL =
  spawnSync('etcdctl', ['version']).status === 0 ? undefined : 'etcdctl is not installed';
/** Time within which a starting node must print its problem. */
const SAID_MS = 2_000;
const YEAR_MS = 365 * 86_400_000;

function certificateDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-tls-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  makeCertificates(directory);
  return directory;
}

/** Starts a node; resolves with its first error, or `undefined` when etcd has answered. */
async function firstWords(cluster: string, env: Readonly<Record<string, string>> = {}) {
  const needed = { NODE_ID: 'a', ADVERTISE: 'http://127.0.0.1:1', CLUSTER_SECRET: 's'.repeat(32) };
  const read = readConfig({ ...needed, CLUSTER: cluster, ...env }, [], 2);
  assert(read.ok, JSON.stringify(read));
  const began = performance.now();
  let speak: (line: string) => void = () => undefined;
  const spoken = new Promise<string>((resolve) => (speak = resolve));
  const { etcd, replicated } = await openSharedLog(read.config, (_, line) => speak(line));
  try {
    const answered = replicated.tail(SAID_MS).then(async () => {
      assert.deepEqual(await etcd.problems('test/tail', SAID_MS), []);
      return 'it answers';
    });
    const said = await Promise.race([answered.catch(() => spoken), spoken]);
    assert(performance.now() - began < SAID_MS, 'it takes too long until it is said');
    return said;
  } finally {
    await replicated.close();
  }
}

test('a log over TLS accepts a client with a certificate, and no other one', {
  skip: NO_ETCD ?? NO_OPENSSL,
}, async (t) => {
  const warnings: string[] = [];
  const warned = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', warned);
  t.after(() => process.off('warning', warned));
  const directory = certificateDirectory(t);
  const stranger = certificateDirectory(t);
  const etcd = await Etcd.start({ members: 1, tlsDirectory: directory });
  t.after(() => etcd.close());
  const { ca, ...own } = clientTls(directory);
  const log = new EtcdLog(await etcd.client(0, { ca: ca!, ...own }), 'test', 0);
  t.after(() => log.close());
  assert.deepEqual(await log.tail(5_000), NO_TAIL);
  await appendNext(await claimed(log));
  for (const tls of [{ ca: ca! }, {}]) {
    const other = new EtcdLog(await etcd.client(0, tls), 'test', 0);
    await assert.rejects(other.tail(1_500), Unreachable);
    await other.close();
  }

  const settings = (from: string, of: string) => ({
    CLUSTER_CA: join(from, 'ca.pem'),
    CLUSTER_CERT: join(of, 'client.pem'),
    CLUSTER_KEY: join(of, 'client.key'),
  });
  const address = etcd.address();
  const right = settings(directory, directory);
  assert.equal(await firstWords(address, right), 'it answers');
  const wrong: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    [address, settings(stranger, directory), /no authority of CLUSTER_CA has signed its/],
    [address, settings(directory, stranger), /it refuses CLUSTER_CERT, or wants one/],
    [address, { CLUSTER_CA: right.CLUSTER_CA }, /it refuses CLUSTER_CERT, or wants one/],
    [address.replace('etcds:', 'etcd:'), {}, /etcds:\/\/ where it wants TLS/],
    [address.replace('127.0.0.1', 'localhost'), right, /its certificate is for other names/],
  ];
  for (const [cluster, env, text] of wrong) {
    const said = await firstWords(cluster, env);
    assert.match(said, text);
    assert.match(said, /^etcd: (127\.0\.0\.1|localhost):\d+: /);
  }
  assert.deepEqual(warnings, [], 'Node warns of nothing that is out of date');
});

test('an unusable certificate file ends the start, and is named with its setting', {
  skip: NO_OPENSSL,
}, (t) => {
  const directory = certificateDirectory(t);
  const file = (name: string): string => join(directory, name);
  const text = file('text.pem');
  writeFileSync(text, 'no certificate\n');
  const broken = file('broken.pem');
  writeFileSync(broken, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  const right = {
    clusterCa: file('ca.pem'),
    clusterCert: file('client.pem'),
    clusterKey: file('client.key'),
  };
  const wrong: readonly (readonly [Partial<typeof right>, RegExp])[] = [
    [{ clusterCa: file('none.pem') }, /^CLUSTER_CA .* cannot be read: ENOENT/],
    [{ clusterCa: text }, /^CLUSTER_CA .* holds no certificate in PEM/],
    [{ clusterCert: broken }, /^CLUSTER_CERT .* holds a certificate that is none/],
    [{ clusterKey: text }, /^CLUSTER_KEY .* is no private key in PEM/],
    [{ clusterKey: file('server.key') }, /^CLUSTER_KEY .* is not the key of CLUSTER_CERT/],
  ];
  const silent = (line: string): void => assert.fail(line);
  for (const [part, message] of wrong) {
    const read = () => readCertificates({ ...right, ...part }, Date.now(), silent);
    assert.throws(read, (error) => error instanceof SettingsRefused && message.test(error.message));
  }
  const said: string[] = [];
  const warn = (line: string): void => void said.push(line);
  assert.deepEqual(Object.keys(readCertificates(right, Date.now(), warn)), ['ca', 'cert', 'key']);
  assert.deepEqual(said, []);
  readCertificates(right, Date.now() + YEAR_MS, warn);
  assert.match(said.join('\n'), /CLUSTER_CERT .* has expired: /);
  said.length = 0;
  readCertificates(right, Date.now() - YEAR_MS, warn);
  assert.match(said.join('\n'), /CLUSTER_CA .* is not valid yet: /);
});

test('a log on an etcd with users accepts the configured one, also after etcd has dropped its token', {
  skip: NO_ETCD ?? NO_ETCDCTL,
}, async (t) => {
  const etcd = await Etcd.start({ members: 1 });
  t.after(() => etcd.close());
  const address = etcd.address();
  const [, member = ''] = /etcd:\/\/([^/]+)\//.exec(address) ?? [];
  const control = (...args: string[]): void => {
    const { status, stderr } = spawnSync('etcdctl', ['--endpoints', member, ...args]);
    assert.equal(status, 0, `etcdctl ${args.join(' ')}: ${stderr}`);
  };
  for (const user of ['root', 'exchange']) {
    control('user', 'add', `${user}:a long password`);
    control('user', 'grant-role', user, 'root');
  }
  control('role', 'add', 'reader');
  control('role', 'grant-permission', 'reader', 'read', 'else/', '--prefix=true');
  control('user', 'add', 'reader:a long password');
  control('user', 'grant-role', 'reader', 'reader');
  control('auth', 'enable');

  const user = { name: 'exchange', password: 'a long password' };
  const client = await etcd.client(0, { user });
  const log = new EtcdLog(client, 'test', 0);
  t.after(() => log.close());
  assert.deepEqual(await log.tail(5_000), NO_TAIL);
  await appendNext(await claimed(log));
  // Sizes, trimming and defragmentation need the role root.
  assert.equal((await log.space(5_000)).isFull, false);
  await client.compact(2, 5_000);
  await client.defragment(member, 5_000);
  await etcd.members[0]!.kill();
  etcd.members[0]!.start();
  await log.tail(20_000);

  const settings = (name: string, password = 'a long password') => ({
    CLUSTER_USER: name,
    CLUSTER_PASSWORD: password,
  });
  assert.equal(await firstWords(address, settings('exchange')), 'it answers');
  const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{}, /it wants a user: CLUSTER_USER and CLUSTER_PASSWORD/],
    [settings('exchange', 'another one'), /it does not know CLUSTER_USER with this/],
    [settings('reader'), /CLUSTER_USER may not do that: it needs the role root/],
  ];
  for (const [env, text] of wrong) {
    const said = await firstWords(address, env);
    assert.match(said, text);
    assert(!said.includes('another one'), said);
  }
  control('--user', 'root:a long password', 'auth', 'disable');
  assert.match(await firstWords(address, settings('exchange')), /it has no users/);
});

test('an error of the library is explained for the operator of etcd', () => {
  const expired =
    '14 UNAVAILABLE: No connection established. Last error: Error: certificate has expired. ';
  const texts: Readonly<Record<string, string>> = {
    [`${expired}Resolution note: `]: 'its certificate has expired (certificate has expired)',
    '14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1 (2026-01-01T00:00:00.000Z). Resolution note: ':
      'nobody listens there (connect ECONNREFUSED 127.0.0.1:1)',
    'etcdserver: mvcc: database space exceeded': 'etcdserver: mvcc: database space exceeded',
    'the client is closed': 'the client is closed',
  };
  for (const [text, said] of Object.entries(texts)) assert.equal(explained(text), said);
});
