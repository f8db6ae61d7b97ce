/**
 * A connection to another node of the cluster, on which this one makes calls. It begins at once; calls wait until both
 * sides have proved CLUSTER_SECRET. It is not opened again once it is lost: whoever needs it makes another.
 *
 * Thread: any. A stream that nobody reads stops all that comes on its connection: long ones have one of
 * their own.
 */
import { connect, type TLSSocket } from 'node:tls';
import { HeartbeatTimeout } from '../heartbeat-timeout.ts';
import { PeerCall, type PeerCallNumber } from './calls.ts';
import { type Frame, FrameKind, FrameReader, frameHead } from './frames.ts';
import { PeerKeys, type PeerSecrets, SECURE } from './secure.ts';

/** The connection is gone: calls that were sent may have had an effect. */
export class ConnectionLost extends Error {
  readonly isUnsent: boolean;

  constructor(why: string, isUnsent: boolean) {
    super(why);
    this.isUnsent = isUnsent;
  }
}

export class CallFailed extends Error {}

export interface PeerAddress {
  readonly host: string;
  readonly port: number;
}

export function addressOf(peers: string): PeerAddress {
  const { hostname, port } = new URL(peers);
  // An IPv6 address stands in brackets there.
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { host, port: Number(port) };
}

interface Call {
  readonly part: (bytes: Buffer) => void;
  readonly done: (bytes: Buffer) => void;
  readonly failed: (error: Error) => void;
}

const CONNECT_MS_MAX = 3_000;
/** Parts of a stream that wait for their reader; beyond, nothing more is read. */
const PARTS_MAX = 64;
/** Longest time without a byte while calls wait, and pings in it; then the connection is lost. */
const SILENT_MS_MAX = 10_000;
const PINGS = 10;
const EMPTY = Buffer.alloc(0);

export class PeerConnection {
  readonly lost: Promise<Error>;
  private readonly socket: TLSSocket;
  private readonly calls = new Map<number, Call>();
  private readonly reader = new FrameReader();
  private isOpen = false;
  private end: Error | undefined;
  private last = 0;
  private beforeOpen: (() => void)[] = [];
  private isLeaving = false;
  private readonly silentMsMax: number;
  private readonly silence: HeartbeatTimeout;
  /** Calls with one answer that they do not have yet. */
  private waiting = 0;

  constructor(
    { host, port }: PeerAddress,
    secrets: PeerSecrets,
    node: string,
    silentMsMax = SILENT_MS_MAX,
  ) {
    this.silentMsMax = silentMsMax;
    this.silence = new HeartbeatTimeout((2 * silentMsMax) / PINGS);
    const keys = new PeerKeys(secrets);
    this.socket = connect({
      ...SECURE,
      host,
      port,
      checkServerIdentity: () => undefined,
      pskCallback: (hint) => keys.forServer(hint, node),
    });
    const { socket } = this;
    socket.setNoDelay(true);
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), CONNECT_MS_MAX);
    let why = new Error('the other node has closed the connection');
    socket.on('secureConnect', () => {
      clearTimeout(timer);
      this.isOpen = true;
      for (const send of this.beforeOpen.splice(0)) send();
    });
    const pings = setInterval(() => this.look(), silentMsMax / PINGS).unref();
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', (error) => {
      why = error;
    });
    this.lost = new Promise((resolve) => {
      socket.on('close', () => {
        clearTimeout(timer);
        clearInterval(pings);
        this.lose(why);
        resolve(why);
      });
    });
  }

  get isLost(): boolean {
    return this.socket.destroyed;
  }

  /** Resolves with the answer; rejects with ConnectionLost or CallFailed. */
  async call(name: PeerCallNumber, request: Uint8Array): Promise<Buffer> {
    this.waiting += 1;
    try {
      return await this.answerTo(name, request);
    } finally {
      this.waiting -= 1;
    }
  }

  /** The parts of an answer, as they come; who stops reading early closes the connection. */
  async *stream(name: PeerCallNumber, request: Uint8Array): AsyncGenerator<Buffer> {
    const { socket } = this;
    const parts: Buffer[] = [];
    let end: Error | 'whole' | undefined;
    let wake = (): void => undefined;
    this.begin(name, request, {
      part: (bytes) => {
        parts.push(bytes);
        if (parts.length >= PARTS_MAX) socket.pause();
        wake();
      },
      done: () => {
        end = 'whole';
        wake();
      },
      failed: (error) => {
        end = error;
        wake();
      },
    });
    try {
      for (;;) {
        const part = parts.shift();
        if (part !== undefined) {
          if (parts.length === 0 && socket.isPaused()) socket.resume();
          yield part;
        } else if (end === 'whole') return;
        else if (end !== undefined) throw end;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      if (end === undefined) this.close();
    }
  }

  close(): void {
    this.socket.destroy();
  }

  /** Closes it once its calls are answered, or after so long. */
  leave(msMax: number): void {
    this.isLeaving = true;
    if (this.calls.size === 0 || msMax === 0) this.close();
    else setTimeout(() => this.close(), msMax).unref();
  }

  private answerTo(name: PeerCallNumber, request: Uint8Array): Promise<Buffer> {
    return new Promise((done, failed) => {
      this.begin(name, request, {
        part: () => this.socket.destroy(new Error('a stream for a call that has one answer')),
        done,
        failed,
      });
    });
  }

  /** While calls wait: a way that delivers nothing, or a node that hangs, ends no connection by itself. */
  private look(): void {
    if (!this.isOpen || this.waiting === 0) this.silence.end();
    else if (this.silence.look() > this.silentMsMax) this.socket.destroy(new Error('it is silent'));
    else this.answerTo(PeerCall.ping, EMPTY).catch(() => undefined);
  }

  private begin(name: PeerCallNumber, request: Uint8Array, call: Call): void {
    if (this.isLost) call.failed(new ConnectionLost(this.end?.message ?? 'it is closed', true));
    else if (this.isOpen) this.send(name, request, call);
    else {
      this.beforeOpen.push(() => this.begin(name, request, call));
      void this.lost.then((why) => {
        if (!this.isOpen) call.failed(new ConnectionLost(why.message, true));
      });
    }
  }

  private send(name: PeerCallNumber, request: Uint8Array, call: Call): void {
    const { socket } = this;
    this.last = (this.last + 1) >>> 0;
    this.calls.set(this.last, call);
    socket.cork();
    socket.write(frameHead(FrameKind.call, name, this.last, request.length));
    socket.write(request);
    process.nextTick(() => socket.uncork());
  }

  private receive(chunk: Buffer): void {
    this.silence.end();
    try {
      for (const frame of this.reader.take(chunk)) this.deliver(frame);
    } catch (error) {
      this.socket.destroy(error as Error);
    }
  }

  private deliver({ bytes, call: number, kind }: Frame): void {
    const call = this.calls.get(number);
    if (call === undefined) throw new Error(`an answer to no call, ${number}`);
    if (kind === FrameKind.part) {
      call.part(bytes);
      return;
    }
    this.calls.delete(number);
    if (kind === FrameKind.answer) call.done(bytes);
    else call.failed(new CallFailed(bytes.toString()));
    if (this.isLeaving && this.calls.size === 0) this.close();
  }

  private lose(why: Error): void {
    this.end = why;
    for (const call of this.calls.values()) call.failed(new ConnectionLost(why.message, false));
    this.calls.clear();
  }
}
