/**
 * Publishes the announcement of a node under a lease, so that the key expires some ten seconds after its node has ended.
 * The name of a node belongs to one process: who finds it taken waits until it is free, or is refused.
 *
 * Thread: the I/O thread. After a failure it tries again; no failure is reported.
 */
import type { EtcdClient } from './etcd-client.ts';
import { Pause } from './pause.ts';
import type { AnnounceCalls, Announcement } from './replicated-log.ts';

const LEASE_SECONDS = 10;
const RENEW_MS = 3_000;
const RETRY_MS = 500;
const CALL_MS = 2_000;
/** A node that runs is announced again within this time after an etcd without its announcement answers. */
export const ANNOUNCED_MS = RENEW_MS + 3 * CALL_MS;
/** The lease of a node that has ended is over by then. */
const TAKEN_MS_MAX = 13_000;

export class Announcer implements Announcement {
  state: Announcement['state'] = 'unknown';
  private readonly etcd: EtcdClient;
  private readonly key: string;
  private readonly value: Buffer;
  private readonly calls: AnnounceCalls;
  private lease: string | undefined;
  private takenSince: number | undefined;
  private replaced: Buffer | undefined;
  private isOver = false;
  private readonly pause = new Pause();
  private readonly ended: Promise<void>;

  constructor(etcd: EtcdClient, key: string, value: Buffer, calls: AnnounceCalls) {
    this.etcd = etcd;
    this.key = key;
    this.value = value;
    this.calls = calls;
    this.ended = this.run();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    this.pause.wake();
    await this.ended;
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const isPublished = await this.publish().then(
        () => this.state === 'published',
        () => false,
      );
      if (!this.isOver) await this.pause.wait(isPublished ? RENEW_MS : RETRY_MS);
    }
    // With its lease the key goes, unless a later run of the node has put it under another one.
    const { etcd, lease } = this;
    if (lease !== undefined) await etcd.revokeLease(lease, RETRY_MS).catch(() => undefined);
  }

  /** Renewing needs no room, so that an announcement outlives a time in which etcd is full. */
  private async publish(): Promise<void> {
    const { calls, etcd, key, value } = this;
    if (this.lease !== undefined && !(await etcd.renewLease(this.lease, CALL_MS))) {
      this.lease = undefined;
    }
    this.lease ??= await etcd.grantLease(LEASE_SECONDS, CALL_MS);
    const found = await etcd.get(key, CALL_MS);
    if (found?.equals(value)) return this.published();
    if (found !== undefined && !calls.mayReplace(found)) return this.taken(found);
    // The process whose value was replaced has put it back, so it runs.
    if (found !== undefined && this.replaced?.equals(found)) return calls.onTaken(found);
    const puts = [{ key, value, lease: this.lease }];
    if (!(await etcd.swap({ key, expected: found, puts }, CALL_MS))) return;
    // One that comes where this node was published already is of a later process, which gives way.
    if (this.state !== 'published') this.replaced = found;
    this.published();
  }

  private published(): void {
    this.state = 'published';
    this.takenSince = undefined;
  }

  private taken(found: Buffer): void {
    this.state = 'taken';
    const now = performance.now();
    this.takenSince ??= now;
    if (now - this.takenSince > TAKEN_MS_MAX && !this.isOver) this.calls.onTaken(found);
  }
}
