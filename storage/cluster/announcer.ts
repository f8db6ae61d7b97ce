/**
 * Renews the lease of a key of etcd, so that the key expires some ten seconds after its node has ended.
 * Thread: the I/O thread. After a failure it tries again; no failure is reported.
 */
import type { EtcdClient } from '../etcd/client.ts';
import { Pause } from './pause.ts';
import type { Subscription } from './replicated-log.ts';

const LEASE_SECONDS = 10;
const RENEW_MS = 3_000;
const RETRY_MS = 500;
const CALL_MS = 2_000;

export class Announcer implements Subscription {
  private readonly etcd: EtcdClient;
  private readonly key: string;
  private readonly value: Buffer;
  private lease: string | undefined;
  /** Whether the key is there, under this lease. */
  private isStored = false;
  private isOver = false;
  private readonly pause = new Pause();
  private readonly ended: Promise<void>;

  constructor(etcd: EtcdClient, key: string, value: Buffer) {
    this.etcd = etcd;
    this.key = key;
    this.value = value;
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
        () => true,
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
    const { etcd, key, value } = this;
    if (this.lease !== undefined && !(await etcd.renewLease(this.lease, CALL_MS))) {
      this.lease = undefined;
      this.isStored = false;
    }
    this.lease ??= await etcd.grantLease(LEASE_SECONDS, CALL_MS);
    if (this.isStored) return;
    await etcd.putLeased({ key, value }, this.lease, CALL_MS);
    this.isStored = true;
  }
}
