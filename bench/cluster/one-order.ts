/**
 * One order at a time, at the leader and at a follower, beside its parts: a node that does not wait for a disk, a
 * bare transaction of etcd, and a bare hop between two processes. The five take turns, order by order, so that each finds
 * threads and caches as cold.
 *
 * Thread: the suite's only one.
 */
import { join } from 'node:path';
import { OrderCommand } from '../../engine/commands.ts';
import { PeerCall } from '../../server/cluster/peers/calls.ts';
import { PeerConnection } from '../../server/cluster/peers/peer-connection.ts';
import { batchRecordBytes } from '../../storage/log/batch-record.ts';
import { recordBytes } from '../../storage/log/record.ts';
import { BareLog } from '../common/bare-log.ts';
import { Child } from '../common/child.ts';
import { latencies, median, type Ratio, ratioLine } from '../common/figures.ts';
import type { LocalNode } from '../load/load-node.ts';
import { Connection } from '../measure/connection.ts';
import { Traffic } from '../orders/traffic.ts';
import { endNodes, type Stage, startPair, startSingle } from './cluster-nodes.ts';
import type { HopOptions } from './hop.ts';

/** Beside the record: the head of a group. */
const GROUP_HEAD_BYTES = 384;
const TAIL_BYTES = 160;
/** A checked order with its owner, and its answer. */
const CALL_BYTES = 60 + 4 * OrderCommand.words;
const ANSWER_BYTES = 200;
const SECRET = 'a secret of a bench that is long enough';
/** Turns that count for nothing, because connections are new. */
const COLD = 20;
const AIM = 1.3;

interface Turn {
  /** Work that is not measured. */
  readonly prepare: () => void;
  readonly run: () => Promise<unknown>;
  readonly end: () => void;
}

const ALONE = { prepare: () => undefined, end: () => undefined };

export async function oneOrder(stage: Stage, orders: number): Promise<readonly Ratio[]> {
  const { follower, leader } = await startPair(stage, 'one');
  const single = await startSingle(stage, 'no-disk', { DURABILITY: 'committed' });
  const client = await stage.etcd.client();
  const child = new Child(join(import.meta.dirname, 'hop'), []);
  try {
    const options: HopOptions = { secret: SECRET, bytes: ANSWER_BYTES };
    const port = await child.ask<number>('open', options);
    const peer = new PeerConnection(
      { host: '127.0.0.1', port },
      { current: SECRET, previous: '' },
      'bench',
    );
    const bare = new BareLog(client, TAIL_BYTES);
    const value = Buffer.alloc(
      GROUP_HEAD_BYTES + recordBytes(batchRecordBytes(OrderCommand.words)),
      7,
    );
    const call = Buffer.alloc(CALL_BYTES, 7);
    const all = { orders: 2 * (orders + COLD), unsigned: false };
    const cluster = await Traffic.open(leader.url, all);
    const alone = await Traffic.open(single.url, all);
    const turns: Readonly<Record<string, Turn>> = {
      leader: await ordersAt(cluster, leader),
      follower: await ordersAt(cluster, follower),
      noDisk: await ordersAt(alone, single),
      etcd: { ...ALONE, run: () => bare.write(value) },
      hop: { ...ALONE, run: () => peer.call(PeerCall.orders, call), end: () => peer.close() },
    };
    return told(await takeTurns(turns, orders));
  } finally {
    client.close();
    await child.stop();
    await endNodes(stage);
  }
}

async function takeTurns(
  turns: Readonly<Record<string, Turn>>,
  count: number,
): Promise<Record<string, number[]>> {
  const ms = Object.fromEntries(Object.keys(turns).map((name) => [name, [] as number[]]));
  for (let i = -COLD; i < count; i++) {
    for (const [name, turn] of Object.entries(turns)) {
      turn.prepare();
      const began = performance.now();
      await turn.run();
      if (i >= 0) ms[name]!.push(performance.now() - began);
    }
  }
  for (const { end } of Object.values(turns)) end();
  return ms;
}

/** Places one order each time, over one connection. */
async function ordersAt(traffic: Traffic, { url }: LocalNode): Promise<Turn> {
  const connection = await new Promise<Connection>((resolve) => new Connection(url, resolve));
  let bytes: Buffer;
  return {
    prepare: () => {
      bytes = traffic.bytes(traffic.draw(1, 1))[0]!;
    },
    run: async () => {
      const answer = await new Promise<string>((resolve) => {
        connection.send(bytes, (status, body) => resolve(`${status} ${body}`));
      });
      if (!answer.startsWith('200 {"success":true')) throw new Error(`an order failed: ${answer}`);
    },
    end: () => connection.close(),
  };
}

function told(ms: Record<string, number[]>): readonly Ratio[] {
  latencies('one order at the leader', ms.leader!);
  latencies('one order at the follower', ms.follower!);
  latencies('  a node that waits for no disk', ms.noDisk!);
  latencies('  a bare transaction of etcd', ms.etcd!);
  latencies('  a bare hop, there and back', ms.hop!);
  const [leader, follower, noDisk, etcd, hop] = ['leader', 'follower', 'noDisk', 'etcd', 'hop'].map(
    (name) => median(ms[name]!),
  ) as [number, number, number, number, number];
  const bound = 'at most';
  const ratios: Ratio[] = [
    { name: 'at the leader, p50 to its parts', ratio: leader / (noDisk + etcd), bound, aim: AIM },
    {
      name: 'at the follower, p50 to its parts',
      bound,
      aim: AIM,
      ratio: follower / (noDisk + etcd + hop),
    },
    { name: 'at the follower, p50 to the leader', ratio: follower / leader, bound, aim: AIM },
  ];
  for (const ratio of ratios) ratioLine(ratio);
  return ratios;
}
