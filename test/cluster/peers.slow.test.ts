import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ForwardMetrics } from '../../server/admin/forward-metrics.ts';
import { LeaderLink } from '../../server/cluster/leader-link.ts';
import { PeerCall } from '../../server/cluster/peers/calls.ts';
import {
  CallFailed,
  ConnectionLost,
  PeerConnection,
} from '../../server/cluster/peers/peer-connection.ts';
import { PeerServer } from '../../server/cluster/peers/peer-server.ts';
import { PeerKeys } from '../../server/cluster/peers/secure.ts';
import type { Leader } from '../../server/cluster/role-state.ts';
import { whileAlive } from '../../server/cluster/while-alive.ts';
import { until } from '../common/node-harness.ts';

const FRAME_BYTES_MAX = 16 * 2 ** 20;
const SECRETS = { current: 's'.repeat(32), previous: '' };

async function served(
  body: (port: number, server: PeerServer, lines: readonly string[]) => Promise<void>,
  readerMsMax = 60_000,
  secrets = SECRETS,
): Promise<void> {
  const lines: string[] = [];
  const print = (_: string, line: string): void => void lines.push(line);
  const server = new PeerServer({
    secrets,
    host: '127.0.0.1',
    port: 0,
    print,
    readerMsMax,
  });
  const port = await server.listen();
  try {
    await body(port, server, lines);
  } finally {
    await server.close();
  }
}

function connectionTo(port: number, secrets = SECRETS, silentMsMax?: number): PeerConnection {
  return new PeerConnection({ host: '127.0.0.1', port }, secrets, 'n1', silentMsMax);
}

/** A connection to a port that loses everything from some moment on, and closes nothing. */
async function wayTo(port: number) {
  const sockets: Socket[] = [];
  const way = { port: 0, isCut: false, close };
  const server = createServer((from) => {
    const to = connect({ host: '127.0.0.1', port });
    for (const [source, target] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.push(source);
      source.on('data', (bytes) => way.isCut || target.write(bytes));
      source.on('error', () => undefined);
      source.on('close', () => way.isCut || target.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  way.port = (server.address() as AddressInfo).port;
  function close(): void {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
  return way;
}

test('calls are answered, many at a time, each with its own answer', () =>
  served(async (port, server) => {
    const long = 3 * 2 ** 20;
    server.answer(PeerCall.request, async (bytes) => Buffer.from(bytes).reverse());
    const connection = connectionTo(port);
    const sent = Array.from({ length: 200 }, (_, i) => Buffer.alloc(i === 7 ? long : i, i));
    const answers = await Promise.all(sent.map((it) => connection.call(PeerCall.request, it)));
    for (const [i, answer] of answers.entries()) {
      assert(answer.equals(Buffer.from(sent[i]!).reverse()), `answer ${i}`);
    }
    connection.close();
  }));

test('a failed call and an unanswered one give their reasons', () =>
  served(async (port, server) => {
    server.answer(PeerCall.request, () => Promise.reject(new Error('not today')));
    const connection = connectionTo(port);
    const none = Buffer.alloc(0);
    await assert.rejects(connection.call(PeerCall.request, none), new CallFailed('not today'));
    await assert.rejects(
      connection.call(PeerCall.orders, none),
      new CallFailed(`nothing was done: this node does not know call ${PeerCall.orders}`),
    );
    connection.close();
  }));

test('a stream comes in parts, waits for its reader, and ends', () =>
  served(async (port, server) => {
    const parts = 500;
    const bytes = 64 * 1024;
    let made = 0;
    async function* answer(): AsyncGenerator<Buffer> {
      for (; made < parts; made++) yield Buffer.alloc(bytes, made);
    }
    server.answer(PeerCall.request, answer);
    const connection = connectionTo(port);
    let received = 0;
    for await (const part of connection.stream(PeerCall.request, Buffer.alloc(0))) {
      assert.equal(part.length, bytes);
      assert.equal(part[0], received % 256);
      if (received === 0) {
        // Time for all of it, if nobody stopped it.
        for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
        assert(made < parts, 'the other side waits');
      }
      received += 1;
    }
    assert.equal(received, parts);
    connection.close();
  }));

test('a connection without answers is lost, and so is the call that waits on it', () =>
  served(async (port, server) => {
    server.answer(PeerCall.request, async (bytes) => bytes);
    const way = await wayTo(port);
    const connection = connectionTo(way.port, SECRETS, 400);
    await connection.call(PeerCall.request, Buffer.alloc(1));
    way.isCut = true;
    await assert.rejects(
      connection.call(PeerCall.request, Buffer.alloc(1)),
      (error) =>
        error instanceof ConnectionLost && !error.isUnsent && error.message === 'it is silent',
    );
    assert(connection.isLost);
    way.close();
  }));

test('a call with a slow answer succeeds when pings are answered', () =>
  served(async (port, server) => {
    server.answer(PeerCall.request, async (bytes) => {
      await sleep(2_500);
      return bytes;
    });
    const connection = connectionTo(port, SECRETS, 1_000);
    assert.equal(`${await connection.call(PeerCall.request, Buffer.from('late'))}`, 'late');
    connection.close();
  }));

test('a stream is closed when its reader takes nothing for long', () =>
  served(async (port, server) => {
    let isEnded = false;
    server.answer(PeerCall.copy, async function* () {
      try {
        for (;;) yield Buffer.alloc(2 ** 20);
      } finally {
        isEnded = true;
      }
    });
    const connection = connectionTo(port);
    const stream = connection.stream(PeerCall.copy, Buffer.alloc(0));
    await stream.next();
    await until(() => isEnded);
    connection.close();
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, ConnectionLost);
  }, 1_500));

test('a stream counts as silent while its reader waits for it, and not while it writes', async () => {
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from('1');
    yield Buffer.from('2');
    await sleep(60_000, undefined, { ref: false });
  }
  const read: string[] = [];
  await assert.rejects(async () => {
    for await (const piece of whileAlive(pieces(), undefined, 300)) {
      read.push(`${piece}`);
      await sleep(900);
    }
  }, /it is silent/);
  assert.deepEqual(read, ['1', '2']);
});

test('a peer with another secret is not answered, and is logged once', () =>
  served(async (port, server, lines) => {
    let calls = 0;
    server.answer(PeerCall.request, async () => {
      calls += 1;
      return Buffer.alloc(0);
    });
    for (let i = 0; i < 3; i++) {
      const connection = connectionTo(port, { current: 'x'.repeat(32), previous: '' });
      const lost = await connection.call(PeerCall.request, Buffer.alloc(1)).then(
        () => undefined,
        (error: unknown) => error,
      );
      assert(lost instanceof ConnectionLost && lost.isUnsent, String(lost));
      assert(connection.isLost);
    }
    assert.equal(calls, 0);
    assert.deepEqual(lines, ['127.0.0.1 does not have CLUSTER_SECRET: its connections are closed']);
  }));

test('any two nodes that share one secret can talk while the secret changes', async () => {
  const [before, after] = ['b'.repeat(32), 'a'.repeat(32)];
  const old = { current: before, previous: '' };
  const both = { current: after, previous: before };
  const next = { current: after, previous: '' };
  for (const secrets of [old, both, next]) {
    await served(
      async (port, server, lines) => {
        server.answer(PeerCall.request, async (bytes) => bytes);
        for (const caller of [old, both, next]) {
          const connection = connectionTo(port, caller);
          const answer = connection.call(PeerCall.request, Buffer.from('x'));
          if (new Set([secrets, caller, both]).size === 3) await assert.rejects(answer);
          else assert.equal(`${await answer}`, 'x');
          connection.close();
        }
        assert.equal(lines.length, secrets === both ? 0 : 1);
      },
      60_000,
      secrets,
    );
  }
});

test('a node of a version without key names has the former secret', async () => {
  const both = new PeerKeys({ current: 'a'.repeat(32), previous: 'b'.repeat(32) });
  const old = new PeerKeys({ current: 'b'.repeat(32), previous: '' });
  const { psk } = old.forServer(old.hint, 'n1');
  assert.deepEqual(both.ofIdentity('n1'), psk);
  assert.deepEqual(both.forServer(null, 'n2').psk, psk);
});

test('a connection that is given up before it is open logs nothing', () =>
  served(async (port, server, lines) => {
    server.answer(PeerCall.request, async (bytes) => bytes);
    const early = connect({ host: '127.0.0.1', port });
    await once(early, 'connect');
    early.destroy();
    const connection = connectionTo(port);
    for (let i = 0; i < 20; i++) await connection.call(PeerCall.request, Buffer.alloc(1));
    connection.close();
    assert.deepEqual(lines, []);
  }));

test('a connection without a proof is closed', () =>
  served(async (port) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await new Promise((resolve) => socket.on('close', resolve).resume());
    const silent = connect({ host: '127.0.0.1', port });
    silent.on('error', () => undefined);
    await new Promise((resolve) => silent.on('close', resolve).resume());
  }));

test('a frame that is too long closes the connection, and calls in flight have an unknown outcome', () =>
  served(async (port, server, lines) => {
    server.answer(PeerCall.request, () => new Promise(() => undefined));
    const connection = connectionTo(port);
    const waiting = connection.call(PeerCall.request, Buffer.alloc(1));
    const tooLong = connection.call(PeerCall.orders, Buffer.alloc(FRAME_BYTES_MAX));
    for (const call of [waiting, tooLong]) {
      await assert.rejects(call, (error) => error instanceof ConnectionLost && !error.isUnsent);
    }
    assert.equal(lines.length, 1);
    const late = connection.call(PeerCall.request, Buffer.alloc(1));
    await assert.rejects(late, (error) => error instanceof ConnectionLost && error.isUnsent);
  }));

test('a leader that hands over still answers earlier calls, and the next one gets a connection', async () => {
  const told = { leader: undefined as Leader | undefined };
  const link = new LeaderLink({
    node: 'n1',
    secrets: SECRETS,
    waitMs: 20_000,
    lateMs: 0,
    leads: () => false,
    leader: () => told.leader,
    metrics: new ForwardMetrics(),
    print: () => undefined,
  });
  const leaderAt = (node: string, port: number, epoch: number): Leader => {
    const peers = `peers://127.0.0.1:${port}`;
    return { node, advertise: '', peers, epoch };
  };
  await served((port, before) =>
    served(async (nextPort, next) => {
      let answer = (_: Buffer): void => undefined;
      const asked = new Promise<void>((resolve) => {
        before.answer(PeerCall.orders, () => {
          resolve();
          return new Promise((done) => (answer = done));
        });
      });
      next.answer(PeerCall.orders, async () => Buffer.from('next'));
      told.leader = leaderAt('n2', port, 1);
      const first = link.call(PeerCall.orders, Buffer.alloc(0));
      await asked;
      told.leader = undefined;
      link.expect(leaderAt('n3', nextPort, 2));
      const second = link.call(PeerCall.orders, Buffer.alloc(0));
      told.leader = leaderAt('n3', nextPort, 2);
      link.leaderChanged();
      assert.equal(`${await second}`, 'next');
      answer(Buffer.from('before'));
      assert.equal(`${await first}`, 'before');
      link.close();
    }),
  );
});
