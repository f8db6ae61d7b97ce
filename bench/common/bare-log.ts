/** A log on etcd that does nothing but `if the tail is as expected then put the record, put the tail`. Thread: any. */
import type { EtcdClient } from '../../storage/replicated-log/etcd-client.ts';

const CALL_MS = 10_000;

export class BareLog {
  private readonly client: EtcdClient;
  private readonly tailBytes: number;
  private tail: Buffer | undefined;
  private count = 0;

  constructor(client: EtcdClient, tailBytes = 1) {
    this.client = client;
    this.tailBytes = tailBytes;
  }

  async write(value: Buffer): Promise<void> {
    this.count += 1;
    const tail = Buffer.from(String(this.count).padStart(this.tailBytes));
    const puts = [
      { key: `bare/log/${this.count}`, value },
      { key: 'bare/tail', value: tail },
    ];
    const swap = { key: 'bare/tail', expected: this.tail, puts };
    if (!(await this.client.swap(swap, CALL_MS))) throw new Error('a bare transaction was refused');
    this.tail = tail;
  }
}
