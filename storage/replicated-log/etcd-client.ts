/**
 * etcd, as far as the log needs it; the only file that imports the package etcd3, when it is first used. Each
 * member has a client of its own: which member is called, how long, and what is tried again are decided here
 * and not by the package, whose repetitions would hide an unknown outcome, and whose watchers may go
 * on silently after a change was missed.
 *
 * Thread: the I/O thread. Every call has an end by the steady clock, and rejects with Unreachable.
 */
import type { Etcd3, IOptions, IRequestOp, IWatchResponse } from 'etcd3';
import { Unreachable } from '../log/log.ts';
import { accessOptions, type EtcdAccess } from './etcd-access.ts';
import type { EtcdAddress } from './etcd-address.ts';
import { explained } from './etcd-explain.ts';

export interface Row {
  readonly key: string;
  readonly value: Buffer;
}

export interface Put extends Row {
  readonly lease?: string | undefined;
}

export interface Page {
  readonly rows: readonly Row[];
  /** The state of etcd that they were read from. */
  readonly revision: number;
  readonly hasMore: boolean;
}

/** Keys from `start` on that are less than `end`. */
export interface KeyRange {
  readonly start: string;
  readonly end: string;
}

export interface Swap {
  readonly key: string;
  /** `undefined` where the key must not exist. */
  readonly expected: Buffer | undefined;
  /** Another key that has to hold this. */
  readonly unchanged?: Row | undefined;
  readonly puts: readonly Put[];
}

export interface WatchCalls {
  onRows(rows: readonly Row[]): void;
  onEnd(why: string): void;
}

export interface MemberStatus {
  readonly member: string;
  readonly usedBytes: number;
  readonly liveBytes: number;
  readonly isLeader: boolean;
}

/** The first member has so long to answer, each next one so many times as long. */
const ATTEMPT_MS = 400;
const ATTEMPT_GROWTH = 1.5;
const PAUSE_MS = 20;
const MESSAGE_BYTES_MAX = 2 ** 28;

const CHANNEL = {
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  // A member that is back is found within a second; the package's own bound is two minutes.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // A proxy of the environment is not meant for it.
  'grpc.enable_http_proxy': 0,
  // A connection whose other side is gone without a word is closed; etcd refuses more than one each 5 s.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
};

/** Calls once. Stands for the package's policies, of which only this part is called. */
const ONCE = {
  execute: async (call: (context: object) => unknown) => call({}),
} as unknown as NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

type Call<T> = (etcd: Etcd3, options: { readonly deadline: number }) => Promise<T>;

export class EtcdClient {
  readonly members: readonly string[];
  private readonly clients: readonly Etcd3[];
  private present = 0;
  private isClosed = false;
  private readonly underWay = new Set<(why: string) => void>();

  private constructor(members: readonly string[], clients: readonly Etcd3[]) {
    this.members = members;
    this.clients = clients;
  }

  /** Does not connect yet. `first`: the member that is called first, so that nodes use different ones. */
  static async open(address: EtcdAddress, access: EtcdAccess, first = 0): Promise<EtcdClient> {
    const { Etcd3: Client } = await import('etcd3');
    const { members, isSecure } = address;
    const clients = members.map((member): Etcd3 => {
      const { grpcOptions, hosts } = accessOptions(member, isSecure, access, (user, options) =>
        etcd.auth.authenticate(user, options),
      );
      const etcd = new Client({
        faultHandling: { global: ONCE, host: () => ONCE },
        grpcOptions: { ...CHANNEL, ...grpcOptions },
        hosts,
      });
      return etcd;
    });
    const client = new EtcdClient(members, clients);
    client.present = first % members.length;
    return client;
  }

  /** The newest value, as a majority has it. */
  async get(key: string, msMax: number): Promise<Buffer | undefined> {
    const { rows } = await this.page({ start: key, end: `${key}\0` }, 1, msMax);
    return rows[0]?.value;
  }

  /** The first keys of a range, as a majority has them. */
  page({ start, end }: KeyRange, limit: number, msMax: number): Promise<Page> {
    const request = { key: Buffer.from(start), range_end: Buffer.from(end), limit };
    return this.patiently(msMax, async (etcd, options) => {
      const { header, kvs, more } = await etcd.kv.range(request, options);
      const rows = kvs.map(rowOf);
      return { rows, revision: Number(header.revision), hasMore: more };
    });
  }

  /** Puts all, if the key holds what is expected. One try: after a rejection it may still take place. */
  swap({ expected, key, puts, unchanged }: Swap, msMax: number): Promise<boolean> {
    const compare = [comparisonOf(key, expected)];
    if (unchanged !== undefined) compare.push(comparisonOf(unchanged.key, unchanged.value));
    const success = puts.map(putOf);
    return this.once(msMax, async (etcd, options) => {
      const { succeeded } = await etcd.kv.txn({ compare, success }, options);
      return succeeded;
    });
  }

  async delete({ start, end }: KeyRange, msMax: number): Promise<void> {
    const request = { key: Buffer.from(start), range_end: Buffer.from(end) };
    await this.patiently(msMax, (etcd, options) => etcd.kv.deleteRange(request, options));
  }

  async grantLease(seconds: number, msMax: number): Promise<string> {
    const { ID } = await this.patiently(msMax, (etcd, options) =>
      etcd.leaseClient.leaseGrant({ TTL: seconds }, options),
    );
    return ID;
  }

  /** Resolves with false where the lease has expired. */
  renewLease(lease: string, msMax: number): Promise<boolean> {
    return this.patiently(msMax, async (etcd, options) => {
      const stream = await etcd.leaseClient.leaseKeepAlive(options);
      return new Promise<boolean>((resolve, reject) => {
        stream.on('data', ({ TTL }: { TTL: string }) => {
          resolve(Number(TTL) > 0);
          stream.cancel();
        });
        stream.on('error', reject);
        stream.on('end', () => reject(new Error('the stream has ended')));
        stream.write({ ID: lease });
      });
    });
  }

  async revokeLease(lease: string, msMax: number): Promise<void> {
    await this.patiently(msMax, (etcd, options) =>
      etcd.leaseClient.leaseRevoke({ ID: lease }, options),
    );
  }

  /** Gives up the history before the present state, and waits until its room is free. */
  async compact(revision: number, msMax: number): Promise<void> {
    await this.once(msMax, (etcd, options) =>
      etcd.kv.compact({ revision, physical: true }, options),
    );
  }

  /** Delivers every change of a range from a revision on, through the present member, while that one is well. */
  watch({ start, end }: KeyRange, revision: number, calls: WatchCalls): { stop(): void } {
    const { present } = this;
    const key = Buffer.from(start);
    const range_end = Buffer.from(end);
    let stop = (): void => {
      stop = () => undefined;
    };
    let isOver = false;
    const finish = (why: string): void => {
      if (isOver) return;
      isOver = true;
      stop();
      this.leave(present);
      calls.onEnd(why);
    };
    const open = async (): Promise<void> => {
      const stream = await this.clients[present]!.watchClient.watch();
      // Errors may come after the cancellation, too.
      stream.on('error', ({ message }: Error) => finish(explained(message)));
      stream.on('end', () => finish('the stream has ended'));
      stream.on('data', (response: IWatchResponse) => {
        if (isOver) return;
        if (response.canceled) return finish(response.cancel_reason || 'it was cancelled');
        const puts = response.events.filter(({ type }) => type === 'Put');
        if (puts.length > 0) calls.onRows(puts.map(({ kv }) => rowOf(kv)));
      });
      stop = () => stream.cancel();
      if (isOver) return stop();
      const create_request = { key, range_end, start_revision: revision, fragment: true };
      stream.write({ create_request });
    };
    open().catch(({ message }: Error) => finish(explained(message)));
    return {
      stop: () => {
        isOver = true;
        stop();
      },
    };
  }

  /** Each member that answers. */
  async status(msMax: number): Promise<MemberStatus[]> {
    const seen = await Promise.allSettled(
      this.members.map(async (member, i) => {
        const status = await this.attempt(i, msMax, (etcd, options) =>
          etcd.maintenance.status(options),
        );
        const usedBytes = Number(status.dbSize);
        // etcd has said it since 3.4; the package's types are older.
        const { dbSizeInUse } = status as unknown as { dbSizeInUse: string };
        const isLeader = status.header.member_id === status.leader;
        return { member, usedBytes, liveBytes: Number(dbSizeInUse), isLeader };
      }),
    );
    return seen.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  /** Texts of the members that do not serve this node. @param key that it reads */
  async problems(key: string, msMax: number): Promise<string[]> {
    const request = { key: Buffer.from(key) };
    const tried = await Promise.allSettled(
      this.members.map((_, i) =>
        this.attempt(i, msMax, async (etcd, options) => {
          await etcd.kv.range(request, options);
          // What a user without the role root may read, it still may not trim.
          await etcd.maintenance.status(options);
        }),
      ),
    );
    if (this.isClosed) return [];
    return tried.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as Unreachable).why] : [],
    );
  }

  async isFull(msMax: number): Promise<boolean> {
    return (await this.alarms(msMax)).length > 0;
  }

  /** Takes records again. To be called once there is room. */
  async disarm(msMax: number): Promise<void> {
    for (const memberID of await this.alarms(msMax)) {
      const request = { action: 'Deactivate', memberID, alarm: 'Nospace' } as const;
      await this.patiently(msMax, (etcd, options) => etcd.maintenance.alarm(request, options));
    }
  }

  /** Gives the free room of a member's file back; the member answers nothing meanwhile. */
  async defragment(member: string, msMax: number): Promise<void> {
    await this.attempt(this.members.indexOf(member), msMax, (etcd, options) =>
      etcd.maintenance.defragment(options),
    );
  }

  close(): void {
    this.isClosed = true;
    for (const fail of this.underWay) fail('the client is closed');
    for (const client of this.clients) client.close();
  }

  private async alarms(msMax: number): Promise<string[]> {
    const { alarms } = await this.patiently(msMax, (etcd, options) =>
      etcd.maintenance.alarm({ action: 'Get' }, options),
    );
    return alarms.filter(({ alarm }) => alarm === 'Nospace').map(({ memberID }) => memberID);
  }

  /** Calls one member after the other, until one answers. For what may be done twice. */
  private async patiently<T>(msMax: number, call: Call<T>): Promise<T> {
    const end = performance.now() + msMax;
    for (let attemptMs = ATTEMPT_MS; ; attemptMs *= ATTEMPT_GROWTH) {
      const left = end - performance.now();
      try {
        return await this.once(Math.min(left, attemptMs), call);
      } catch (error) {
        if (!(error instanceof Unreachable) || this.isClosed) throw error;
        if (end - performance.now() < PAUSE_MS) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  private async once<T>(msMax: number, call: Call<T>): Promise<T> {
    const { present } = this;
    // It may hang: this call goes on waiting for it, later ones do not.
    const slow = setTimeout(() => this.leave(present), ATTEMPT_MS);
    try {
      return await this.attempt(present, msMax, call);
    } catch (error) {
      if (!isFullText(error as Error)) this.leave(present);
      throw error;
    } finally {
      clearTimeout(slow);
    }
  }

  private leave(member: number): void {
    if (this.present === member) this.present = (member + 1) % this.members.length;
  }

  private attempt<T>(member: number, msMax: number, call: Call<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.underWay.delete(fail);
      };
      const fail = (why: string): void => {
        settle();
        reject(new Unreachable(`${this.members[member]}: ${why}`));
      };
      const timer = setTimeout(() => fail(`${Math.round(msMax)} ms have passed`), msMax);
      if (this.isClosed) return fail('the client is closed');
      this.underWay.add(fail);
      // For the package, so that it forgets the call as well; a wall clock, read once.
      const deadline = Date.now() + msMax;
      call(this.clients[member]!, { deadline }).then(
        (value) => {
          settle();
          resolve(value);
        },
        ({ message }: Error) => fail(explained(message)),
      );
    });
  }
}

export function isFullText(error: Error): boolean {
  return error.message.includes('database space exceeded');
}

function rowOf({ key, value }: { key: Buffer; value: Buffer }): Row {
  return { key: key.toString(), value };
}

function comparisonOf(key: string, value: Buffer | undefined): object {
  const name = { key: Buffer.from(key), result: 'Equal' };
  return value === undefined
    ? { ...name, target: 'Create', create_revision: 0 }
    : { ...name, target: 'Value', value };
}

function putOf({ key, lease, value }: Put): IRequestOp {
  return { request_put: { key: Buffer.from(key), value, ...(lease !== undefined && { lease }) } };
}
