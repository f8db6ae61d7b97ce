/**
 * A disk in memory with the losses of a real one. Unsynced data can be lost at a crash, sector by
 * sector and name by name; a current write may be torn; room may run out, calls may fail or take
 * long. Nothing asynchronous ends before the simulation says so.
 *
 * Non-goals: the calls themselves (simulated-fs.ts puts them in the place of node:fs).
 */
import { constants } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Random } from '../common/random.ts';

/** Losses of a crash: all that was not synced, or only calls in flight. */
export type Crash = 'power' | 'kill';

interface Write {
  readonly at: number;
  readonly bytes: Buffer;
}

interface Inode {
  content: Buffer;
  /** Bytes that a sync has brought to the medium. */
  durable: Buffer;
  unsynced: Write[];
}

interface NameChange {
  readonly path: string;
  readonly inode: Inode | undefined;
}

export interface OpenFile {
  readonly path: string;
  readonly inode: Inode;
  readonly syncs: boolean;
  position: number;
}

interface Pending {
  readonly label: string;
  readonly write: { readonly inode: Inode; readonly write: Write } | undefined;
  readonly end: (error: Error | undefined) => void;
}

const SECTOR = 512;
/** Shares of unsynced sectors that survive, percent. */
const SURVIVING = [0, 50, 100];

export class SimulatedDisk {
  readonly pending: Pending[] = [];
  roomBytes = Number.POSITIVE_INFINITY;
  /** Called before each call; returns the code of its error, such as EIO. */
  failure: (label: string) => string | undefined = () => undefined;
  /** Called after each change, and when a write has begun. */
  onChange: (label: string) => void = () => undefined;
  private names = new Map<string, Inode>();
  private durableNames = new Map<string, Inode>();
  private unsyncedNames: NameChange[] = [];

  open(path: string, flags: number): OpenFile {
    this.check(`open ${path}`);
    let inode = this.names.get(path);
    if (inode === undefined) {
      if ((flags & constants.O_CREAT) === 0) throw failed('ENOENT', `open '${path}'`);
      if (this.roomBytes <= 0) throw failed('ENOSPC', `open '${path}'`);
      inode = { content: Buffer.alloc(0), durable: Buffer.alloc(0), unsynced: [] };
      this.rename(path, inode);
      this.onChange(`create ${path}`);
    } else if ((flags & constants.O_TRUNC) !== 0) {
      Object.assign(inode, { content: Buffer.alloc(0), unsynced: [] });
    }
    return { path, inode, syncs: (flags & constants.O_DSYNC) !== 0, position: 0 };
  }

  exists(path: string): boolean {
    return this.names.has(path);
  }

  list(directory: string): string[] {
    const prefix = `${directory}/`;
    const paths = [...this.names.keys()].filter((path) => path.startsWith(prefix));
    return paths.map((path) => path.slice(prefix.length)).sort();
  }

  read(file: OpenFile, target: Uint8Array, position: number): number {
    return file.inode.content.copy(target, 0, position, position + target.length);
  }

  write({ inode, path, syncs }: OpenFile, at: number, bytes: Buffer): void {
    const label = `write ${path} ${at} ${bytes.length} ${crc32(bytes)}`;
    this.check(label);
    const grown = Math.max(0, at + bytes.length - inode.content.length);
    if (grown > this.roomBytes) throw failed('ENOSPC', label);
    this.roomBytes -= grown;
    const write = { at, bytes: Buffer.from(bytes) };
    inode.content = written(inode.content, write);
    if (syncs) inode.durable = written(inode.durable, write);
    else inode.unsynced.push(write);
    this.onChange(label);
  }

  sync({ inode, path }: OpenFile): void {
    this.check(`sync ${path}`);
    inode.durable = Buffer.from(inode.content);
    inode.unsynced = [];
    this.onChange(`sync ${path}`);
  }

  syncNames(directory: string): void {
    this.check(`sync ${directory}`);
    this.durableNames = new Map(this.names);
    this.unsyncedNames = [];
    this.onChange(`sync ${directory}`);
  }

  move(from: string, to: string): void {
    const inode = this.names.get(from);
    if (inode === undefined) throw failed('ENOENT', `rename '${from}'`);
    this.check(`rename ${from}`);
    this.rename(from, undefined);
    this.rename(to, inode);
    this.onChange(`rename ${from} ${to}`);
  }

  remove(path: string): void {
    const inode = this.names.get(path);
    if (inode === undefined) return;
    this.roomBytes += inode.content.length;
    this.rename(path, undefined);
    this.onChange(`remove ${path}`);
  }

  /** Queues a call until the simulation ends it; a write shows in part if the crash comes first. */
  later<T>(label: string, run: () => T, write?: Pending['write']): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (error: Error | undefined): void => {
        try {
          if (error !== undefined) throw error;
          resolve(run());
        } catch (thrown) {
          reject(thrown);
        }
      };
      this.pending.push({ label, write, end });
      if (write !== undefined) this.onChange(`begin ${label}`);
    });
  }

  /** The disk after a crash now. */
  crashed(random: Random, crash: Crash): SimulatedDisk {
    const percent = random.pick(SURVIVING);
    const disk = new SimulatedDisk();
    const names = crash === 'kill' ? this.names : this.survivingNames(random);
    const copies = new Map<Inode, Inode>();
    const inFlight = this.pending.flatMap(({ write }) => write ?? []);
    for (const [path, inode] of names) {
      let copy = copies.get(inode);
      if (copy === undefined) {
        let content = crash === 'kill' ? inode.content : inode.durable;
        const unsure = inFlight.flatMap((one) => (one.inode === inode ? one.write : []));
        if (crash === 'power') unsure.unshift(...inode.unsynced);
        for (const write of unsure) content = torn(content, write, random, percent);
        const durable = Buffer.from(content);
        copy = { content: durable, durable, unsynced: [] };
        copies.set(inode, copy);
      }
      disk.names.set(path, copy);
    }
    disk.durableNames = new Map(disk.names);
    return disk;
  }

  flip(random: Random): string {
    const paths = [...this.names.keys()].filter((path) => this.names.get(path)!.content.length > 0);
    if (paths.length === 0) return 'nowhere';
    const path = random.pick(paths);
    const inode = this.names.get(path)!;
    const at = random.below(inode.content.length);
    const content = Buffer.from(inode.content);
    content[at] = content[at]! ^ (1 << random.below(8));
    inode.content = content;
    inode.durable = content;
    return `${path} byte ${at}`;
  }

  private check(label: string): void {
    const code = this.failure(label);
    if (code !== undefined) throw failed(code, label);
  }

  private rename(path: string, inode: Inode | undefined): void {
    if (inode === undefined) this.names.delete(path);
    else this.names.set(path, inode);
    this.unsyncedNames.push({ path, inode });
  }

  /** Names change in their order: some of the last changes may be lost. */
  private survivingNames(random: Random): Map<string, Inode> {
    const names = new Map(this.durableNames);
    const count = random.below(this.unsyncedNames.length + 1);
    for (const { inode, path } of this.unsyncedNames.slice(0, count)) {
      if (inode === undefined) names.delete(path);
      else names.set(path, inode);
    }
    return names;
  }
}

export function failed(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}

function written(content: Buffer, { at, bytes }: Write): Buffer {
  const end = at + bytes.length;
  const copy = Buffer.alloc(Math.max(content.length, end));
  content.copy(copy);
  bytes.copy(copy, at);
  return copy;
}

/** A torn write, of which only some sectors are there. */
function torn(content: Buffer, { at, bytes }: Write, random: Random, percent: number): Buffer {
  let copy = content;
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, (Math.floor((at + from) / SECTOR) + 1) * SECTOR - at);
    if (random.chance(percent)) {
      copy = written(copy, { at: at + from, bytes: bytes.subarray(from, to) });
    }
    from = to;
  }
  return copy;
}
