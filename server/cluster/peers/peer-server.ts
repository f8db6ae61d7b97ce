/**
 * Listener for other nodes of the cluster: answers the calls of the table (calls.ts) for whoever proves
 * CLUSTER_SECRET. A connection may have many calls under way; their answers leave in any order.
 *
 * Thread: the I/O thread. Not here: what a call means.
 */
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Log } from '../../common/logger.ts';
import { NOTHING_DONE, PeerCall, type PeerCallNumber } from './calls.ts';
import { type Frame, FrameKind, FrameReader, frameHead } from './frames.ts';
import { PeerKeys, type PeerSecrets, SECURE } from './secure.ts';

/** Answers a call: with bytes, or with a stream of them in parts. What it rejects with is said to the caller. */
export type AnswerCall = (
  request: Buffer,
  peer: string,
) => Promise<Uint8Array> | AsyncIterable<Uint8Array>;

export interface PeerServerOptions {
  readonly secrets: PeerSecrets;
  readonly host: string;
  readonly port: number;
  readonly print: Log;
  readonly readerMsMax?: number;
}

const PROOF_MS_MAX = 3_000;
const END_MS_MAX = 500;
/** More than a cluster has nodes, with some connections each. */
const CONNECTIONS_MAX = 256;
/** Calls of one connection that are under way; beyond, nothing more is read of it. */
const CALLS_MAX = 4_096;
/** Addresses without a proof of the secret, each reported once. */
const REFUSED_MAX = 64;
/** A stream whose reader takes nothing for so long is given up, with its connection. */
const READER_MS_MAX = 60_000;
/** After so long without a byte the system asks whether the other end is still there. */
const KEEP_ALIVE_MS = 30_000;
const EMPTY = Buffer.alloc(0);

export class PeerServer {
  private readonly options: PeerServerOptions;
  private readonly server: Server;
  private readonly answers = new Map<number, AnswerCall>();
  private readonly sockets = new Set<TLSSocket>();
  private readonly refused = new Set<string>();

  constructor(options: PeerServerOptions) {
    this.options = options;
    const keys = new PeerKeys(options.secrets);
    this.server = createServer(
      {
        ...SECURE,
        pskIdentityHint: keys.hint,
        pskCallback: (_, identity) => keys.ofIdentity(identity),
        handshakeTimeout: PROOF_MS_MAX,
      },
      (socket) => this.take(socket),
    );
    this.server.maxConnections = CONNECTIONS_MAX;
    this.answer(PeerCall.ping, async () => EMPTY);
    this.server.on('tlsClientError', ({ code }: NodeJS.ErrnoException, socket) => {
      // A node that has given the connection up meanwhile may well have it.
      if (code !== 'ECONNRESET') this.refuse(socket.remoteAddress ?? 'somebody');
      // The package leaves it open.
      socket.destroy();
    });
  }

  /** Says who answers a call; one that nobody answers fails. */
  answer(name: PeerCallNumber, answer: AnswerCall): void {
    this.answers.set(name, answer);
  }

  async listen(): Promise<number> {
    const { host, port } = this.options;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port }, () => resolve());
    });
    this.server.on('error', (error) => this.options.print('warn', `peers: ${error.message}`));
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Answers that were made still leave, if their reader takes them. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.end();
    const patience = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, END_MS_MAX);
    await closed;
    clearTimeout(patience);
  }

  private refuse(address: string): void {
    if (this.refused.size >= REFUSED_MAX || this.refused.has(address)) return;
    this.refused.add(address);
    this.options.print(
      'warn',
      `${address} does not have CLUSTER_SECRET: its connections are closed`,
    );
  }

  private take(socket: TLSSocket): void {
    const peer = `${socket.remoteAddress}`;
    const reader = new FrameReader();
    const underWay = { calls: 0 };
    socket.setNoDelay(true);
    // A node that lost its power says nothing: its connection ends after some minutes.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of reader.take(chunk)) {
          if (frame.kind !== FrameKind.call) throw new Error(`a frame of kind ${frame.kind}`);
          underWay.calls += 1;
          if (underWay.calls >= CALLS_MAX) socket.pause();
          void this.run(socket, frame, peer).finally(() => {
            underWay.calls -= 1;
            if (socket.isPaused() && underWay.calls < CALLS_MAX) socket.resume();
          });
        }
      } catch (error) {
        this.options.print(
          'warn',
          `${peer} sent ${(error as Error).message}: its connection is closed`,
        );
        socket.destroy();
      }
    });
  }

  private async run(socket: TLSSocket, { bytes, call, name }: Frame, peer: string): Promise<void> {
    try {
      const answer = this.answers.get(name);
      if (answer === undefined)
        throw new Error(`${NOTHING_DONE}this node does not know call ${name}`);
      const result = answer(bytes, peer);
      if (result instanceof Promise) {
        write(socket, FrameKind.answer, call, await result);
        return;
      }
      for await (const part of result) {
        if (socket.destroyed) return;
        write(socket, FrameKind.part, call, part);
        await whenWritten(socket, this.options.readerMsMax ?? READER_MS_MAX);
      }
      write(socket, FrameKind.answer, call, EMPTY);
    } catch (error) {
      write(socket, FrameKind.failure, call, Buffer.from((error as Error).message));
    }
  }
}

function write(socket: TLSSocket, kind: number, call: number, bytes: Uint8Array): void {
  if (socket.destroyed) return;
  socket.cork();
  socket.write(frameHead(kind, 0, call, bytes.length));
  socket.write(bytes);
  process.nextTick(() => socket.uncork());
}

/** Resolves once the other side has taken what was written, or is gone; it is closed where that takes too long. */
async function whenWritten(socket: TLSSocket, msMax: number): Promise<void> {
  if (!socket.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const patience = setTimeout(() => socket.destroy(), msMax);
    const done = (): void => {
      clearTimeout(patience);
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
