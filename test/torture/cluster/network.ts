/**
 * A network on this machine for some processes: each in a namespace with an address, all on one
 * bridge. The way from one to another can be cut in one direction: packets are lost without an
 * error.
 *
 * Where namespaces cannot be made, the processes run on loopback, and nothing can be cut.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { Place } from '../../../bench/common/etcd.ts';
import { freePort } from '../../../bench/common/free-port.ts';

/** An address that no process has. */
const NOWHERE = '02:00:00:00:00:01';
const OWN_HOST = 254;
const FIXED_PORT = 3_000;

interface Cut {
  readonly from: number;
  readonly to: number;
}

export class Network {
  readonly places: readonly Place[];
  readonly isOwn: boolean;
  private readonly name: string;
  private readonly cuts: Cut[] = [];

  private constructor(name: string, places: readonly Place[], isOwn: boolean) {
    this.name = name;
    this.places = places;
    this.isOwn = isOwn;
    process.once('exit', this.close);
  }

  /** @param count processes */
  static open(count: number): Network {
    const name = `ex${process.pid}`;
    const net = `10.213.${process.pid % 256}`;
    const isOwn =
      ip('link', 'add', name, 'type', 'bridge') &&
      ip('addr', 'add', `${net}.${OWN_HOST}/24`, 'dev', name) &&
      ip('link', 'set', name, 'up') &&
      Array.from({ length: count }, (_, i) => addPlace(name, i, `${net}.${i + 1}`)).every(Boolean);
    if (isOwn) {
      const places = Array.from({ length: count }, (_, i) => ({
        host: `${net}.${i + 1}`,
        through: ['ip', 'netns', 'exec', `${name}n${i}`],
      }));
      return new Network(name, places, true);
    }
    const places = Array.from({ length: count }, () => ({ host: '127.0.0.1', through: [] }));
    const network = new Network(name, places, false);
    network.close();
    return network;
  }

  port(): number | Promise<number> {
    return this.isOwn ? FIXED_PORT : freePort();
  }

  adminPort(): number | Promise<number> {
    return this.isOwn ? FIXED_PORT + 1 : freePort();
  }

  cut(from: number, to: number): void {
    const { host } = this.places[to]!;
    const way = ['neigh', 'replace', host, 'lladdr', NOWHERE, 'dev', 'eth0', 'nud', 'permanent'];
    assert(ip('-n', `${this.name}n${from}`, ...way), `cutting ${from} from ${to} failed`);
    this.cuts.push({ from, to });
  }

  cutBoth(one: number, other: number): void {
    this.cut(one, other);
    this.cut(other, one);
  }

  heal(): void {
    for (const { from, to } of this.cuts.splice(0)) {
      const { host } = this.places[to]!;
      ip('-n', `${this.name}n${from}`, 'neigh', 'del', host, 'dev', 'eth0');
    }
  }

  readonly close = (): void => {
    process.off('exit', this.close);
    for (const i of this.places.keys()) ip('netns', 'del', `${this.name}n${i}`);
    ip('link', 'del', this.name);
  };
}

function addPlace(name: string, i: number, host: string): boolean {
  const [space, end] = [`${name}n${i}`, `${name}v${i}`];
  return (
    ip('netns', 'add', space) &&
    ip('link', 'add', end, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space) &&
    ip('link', 'set', end, 'master', name, 'up') &&
    ip('-n', space, 'addr', 'add', `${host}/24`, 'dev', 'eth0') &&
    ip('-n', space, 'link', 'set', 'eth0', 'up') &&
    ip('-n', space, 'link', 'set', 'lo', 'up')
  );
}

function ip(...args: readonly string[]): boolean {
  return spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
}
