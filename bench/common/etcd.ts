/**
 * A real etcd of some members on this machine, for benchmarks, and for tests that kill, stop and fill it: each
 * member a process of its own on ephemeral ports, its data in a directory that goes away with it.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdAccess } from '../../storage/replicated-log/etcd-access.ts';
import { parseEtcdAddress } from '../../storage/replicated-log/etcd-address.ts';
import { EtcdClient } from '../../storage/replicated-log/etcd-client.ts';
import { freePort } from './free-port.ts';

/** Reason to leave out etcd; `undefined` where it is installed. */
export const NO_ETCD: string | undefined =
  spawnSync('etcd', ['--version']).status === 0
    ? undefined
    : 'etcd is not installed (Debian: apt-get install etcd-server)';

/** Host of a process in another network namespace. */
export interface Place {
  readonly host: string;
  /** The command that runs another one there. */
  readonly through: readonly string[];
}

export interface EtcdOptions {
  readonly members?: number;
  /** Hosts of the members. */
  readonly places?: readonly Place[] | undefined;
  /** --quota-backend-bytes. */
  readonly quotaBytes?: number;
  /** Directory with ca.pem, server.pem, server.key: TLS with certificates of clients. */
  readonly tlsDirectory?: string;
}

const START_MS = 60_000;
const HERE: Place = { host: '127.0.0.1', through: [] };

/** None of them outlives a test that ends in between. */
const started = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

class Member {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  private readonly command: readonly string[];
  private readonly log: string;
  private child: ChildProcess | undefined;

  constructor(name: string, host: string, port: number, command: readonly string[], log: string) {
    this.name = name;
    this.host = host;
    this.port = port;
    this.command = command;
    this.log = log;
  }

  start(): void {
    const file = openSync(this.log, 'a');
    const [program = '', ...args] = this.command;
    this.child = spawn(program, args, { stdio: ['ignore', file, file] });
    closeSync(file);
    started.add(this.child);
  }

  get isRunning(): boolean {
    const { child } = this;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const ended = once(this.child!, 'exit');
    this.child!.kill('SIGKILL');
    await ended;
    started.delete(this.child!);
  }

  /** SIGSTOP: it keeps its connections, and answers nothing. */
  pause(): void {
    this.child!.kill('SIGSTOP');
  }

  resume(): void {
    this.child!.kill('SIGCONT');
  }

  output(): string {
    return readFileSync(this.log, 'utf8').slice(-4_000);
  }
}

export class Etcd {
  readonly members: readonly Member[];
  private readonly directory: string;
  private readonly isSecure: boolean;

  private constructor(members: readonly Member[], directory: string, isSecure: boolean) {
    this.members = members;
    this.directory = directory;
    this.isSecure = isSecure;
  }

  /** Started, and able to write. End it with close(). */
  static async start(o: EtcdOptions = {}): Promise<Etcd> {
    const count = o.members ?? 3;
    const ports = await Promise.all(Array.from({ length: 2 * count }, freePort));
    const directory = mkdtempSync(join(tmpdir(), 'etcd-'));
    const names = Array.from({ length: count }, (_, i) => `m${i + 1}`);
    const places = o.places ?? Array.from({ length: count }, () => HERE);
    const host = (i: number): string => places[i]!.host;
    const peer = (i: number): string => `http://${host(i)}:${ports[count + i]}`;
    const cluster = names.map((name, i) => `${name}=${peer(i)}`).join(',');
    const tls = o.tlsDirectory === undefined ? [] : tlsArgs(o.tlsDirectory);
    const members = names.map((name, i) => {
      const url = `${tls.length > 0 ? 'https' : 'http'}://${host(i)}:${ports[i]}`;
      const args = [
        ...['--name', name, '--data-dir', join(directory, name)],
        ...['--listen-client-urls', url, '--advertise-client-urls', url],
        ...['--listen-peer-urls', peer(i), '--initial-advertise-peer-urls', peer(i)],
        ...['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
        ...['--heartbeat-interval', '50', '--election-timeout', '500'],
        ...['--logger', 'zap', '--log-level', 'warn'],
        ...(o.quotaBytes === undefined ? [] : ['--quota-backend-bytes', `${o.quotaBytes}`]),
        ...tls,
      ];
      const command = [...places[i]!.through, 'etcd', ...args];
      return new Member(name, host(i), ports[i]!, command, join(directory, `${name}.log`));
    });
    const etcd = new Etcd(members, directory, tls.length > 0);
    for (const member of members) member.start();
    await etcd.ready(o.tlsDirectory);
    return etcd;
  }

  /** Its address, as CLUSTER has it. */
  address(name = 'test'): string {
    const hosts = this.members.map(({ host, port }) => `${host}:${port}`).join(',');
    return `${this.isSecure ? 'etcds' : 'etcd'}://${hosts}/${name}`;
  }

  client(first = 0, tls: EtcdAccess = {}): Promise<EtcdClient> {
    const address = parseEtcdAddress(this.address());
    assert(typeof address !== 'string');
    return EtcdClient.open(address, tls, first);
  }

  /** The member that leads etcd, as one of them says. */
  async leader(): Promise<Member> {
    const client = await this.client();
    try {
      for (;;) {
        const leader = (await client.status(1_000)).find(({ isLeader }) => isLeader);
        const member = this.members.find(({ host, port }) => leader?.member === `${host}:${port}`);
        if (member?.isRunning) return member;
        await sleep(50);
      }
    } finally {
      client.close();
    }
  }

  /** Empties all members, as a loss of their disks does. Addresses stay. */
  async loseDisks(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    for (const { name } of this.members) {
      rmSync(join(this.directory, name), { recursive: true, force: true });
    }
    for (const member of this.members) member.start();
    await this.ready(undefined);
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async ready(tlsDirectory: string | undefined): Promise<void> {
    const end = performance.now() + START_MS;
    const client = await this.client(0, tlsDirectory === undefined ? {} : clientTls(tlsDirectory));
    try {
      while (!(await isReady(client))) {
        const outputs = this.members.map((member) => `${member.name}: ${member.output()}`);
        assert(performance.now() < end, `etcd does not start\n${outputs.join('\n')}`);
        await sleep(50);
      }
    } finally {
      client.close();
    }
  }
}

async function isReady(client: EtcdClient): Promise<boolean> {
  try {
    await client.get('ready', 1_000);
    return true;
  } catch {
    return false;
  }
}

export function clientTls(directory: string): EtcdAccess {
  const read = (name: string): Buffer => readFileSync(join(directory, name));
  return { ca: read('ca.pem'), cert: read('client.pem'), key: read('client.key') };
}

function tlsArgs(directory: string): string[] {
  return [
    ...['--cert-file', join(directory, 'server.pem'), '--key-file', join(directory, 'server.key')],
    ...['--client-cert-auth', '--trusted-ca-file', join(directory, 'ca.pem')],
  ];
}
