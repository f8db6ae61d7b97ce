/**
 * `npm run bench -- order-stream`: one verified, durable order at one connection of /ws/user beside one over HTTP. Both
 * transports take turns, order by order, at one node.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { latencies, percentile, type Ratio, ratioLine } from '../common/figures.ts';
import { LocalNode } from '../load/load-node.ts';
import { type Answered, Connection } from '../measure/connection.ts';
import { FrameConnection, frameOf } from '../measure/frame-connection.ts';
import { Traffic } from './traffic.ts';

export interface OrderStreamShape {
  readonly rounds: number;
  /** Orders of a round over each transport. */
  readonly single: number;
  /** Settings of the node, beside those of the suite. */
  readonly environment?: NodeJS.ProcessEnv;
}

export const ORDER_STREAM_FULL: OrderStreamShape = { rounds: 15, single: 200 };

const AIM = 0.85;
/** Orders of each round that count for nothing, because the connections were idle. */
const COLD = 20;
const SUCCESS = Buffer.from('"success":true');

type Send = (bytes: Buffer, answered: Answered) => void;

export async function orderStreamSuite({
  environment,
  rounds,
  single,
}: OrderStreamShape): Promise<readonly Ratio[]> {
  const directory = mkdtempSync(join(tmpdir(), 'order-stream-'));
  // More messages than a stream of a client may send.
  const settings = { WORKERS: '1', LOG_LEVEL: 'warn', STREAM_SUBSCRIPTIONS_MAX: '10000' };
  const node = await LocalNode.start(directory, {
    demo: true,
    environment: { ...environment, ...settings },
  });
  try {
    const orders = 2 * (rounds + 1) * single;
    const traffic = await Traffic.open(node.url, { orders, unsigned: false, wallets: 1 });
    const http = await new Promise<Connection>((resolve) => new Connection(node.url, resolve));
    const stream = await FrameConnection.open(node.url, traffic.keys[0]!);
    const overHttp: number[] = [];
    const overStream: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const requests = traffic.bytes(traffic.draw(single, 1));
      const frames = traffic
        .draw(single, 1)
        .map(({ body }, i) => frameOf(`{"op":"order","id":"${i}","body":${body}}`));
      for (let i = 0; i < single; i += 1) {
        const one = await timed((...args) => http.send(...args), requests[i]!);
        const other = await timed((...args) => stream.send(...args), frames[i]!);
        if (round === 0 || i < COLD) continue;
        overHttp.push(one);
        overStream.push(other);
      }
    }
    http.close();
    stream.close();
    latencies('one order over HTTP', overHttp);
    latencies('  over the stream', overStream);
    const ratio = percentile(overStream, 0.5) / percentile(overHttp, 0.5);
    const line = {
      name: 'p50 over the stream to HTTP',
      ratio,
      bound: 'at most',
      aim: AIM,
    } as const;
    ratioLine(line);
    return [line];
  } finally {
    await node.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Milliseconds until the order has filled. */
function timed(send: Send, bytes: Buffer): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    send(bytes, (status, body) => {
      if (status === 200 && body.includes(SUCCESS)) resolve(performance.now() - began);
      else reject(new Error(`an order ended otherwise: ${status} ${body.toString()}`));
    });
  });
}
