/**
 * Renews the lease of a key of etcd, so that the key expires some ten seconds after its node has ended.
 * Thread: the I/O thread. Failures are tried again, and reach nobody.
 */
import type { EtcdClient } from '../etcd/client.ts';
import { Pause } from './pause.ts';
import type { Announcement } from './replicated-log.ts';

const LEASE_SECONDS = 10;
const RENEW_MS = 3_000;
const RETRY_MS = 500;
const CALL_MS = 2_000;

export class Announcer implements Announcement {
  private readonly etcd: EtcdClient;
  private readonly key: string;
  private value: Buffer;
  /** What etcd has, under which lease. */
  private stored: Buffer | undefined;
  private lease: string | undefined;
  private isOver = false;
  private readonly pause = new Pause();
  private readonly ended: Promise<void>;

  constructor(etcd: EtcdClient, key: string, value: Buffer) {
    this.etcd = etcd;
    this.key = key;
    this.value = value;
    this.ended = this.run();
  }

  update(value: Buffer): void {
    this.value = value;
    this.pause.wake();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    this.pause.wake();
    await this.ended;
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const isTold = await this.tell().then(
        () => true,
        () => false,
      );
      if (!this.isOver) await this.pause.wait(isTold ? RENEW_MS : RETRY_MS);
    }
    const { key } = this;
    await this.etcd.delete({ start: key, end: `${key}\0` }, RETRY_MS).catch(() => undefined);
  }

  /** Renewing needs no room, so that an announcement outlives a time in which etcd is full. */
  private async tell(): Promise<void> {
    const { etcd, key, value } = this;
    if (this.lease !== undefined && !(await etcd.renewLease(this.lease, CALL_MS))) {
      this.lease = undefined;
      this.stored = undefined;
    }
    this.lease ??= await etcd.grantLease(LEASE_SECONDS, CALL_MS);
    if (this.stored === value) return;
    await etcd.putLeased({ key, value }, this.lease, CALL_MS);
    this.stored = value;
    // It may have changed meanwhile.
    if (this.value !== value) await this.tell();
  }
}
