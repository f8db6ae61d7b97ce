/**
 * One kept-alive HTTP/1.1 connection that sends requests which are bytes already, one at a time, and
 * spends as little processor as it can: on a small machine the node needs it.
 * Thread: the tool's only one.
 * Non-goals: answers without Content-Length, TLS, pipelining.
 */
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const RECONNECT_MS = 100;
/** "HTTP/1.1 200": where the status begins and ends. */
const STATUS_FROM = 9;
const STATUS_TO = 12;

/** `status` 0: the connection ended before the answer was whole. */
export type Answered = (status: number, body: Buffer) => void;

const NOTHING: Buffer = Buffer.alloc(0);

export class Connection {
  readonly #host: string;
  readonly #port: number;
  readonly #opened: (connection: Connection) => void;
  #socket: Socket | undefined;
  #answered: Answered | undefined;
  #arrived: Buffer = NOTHING;
  /** Bytes of head and body together; 0 until the head is there. */
  #wanted = 0;
  #headBytes = 0;
  #closed = false;

  /** `opened` is called each time that the connection is made, at first and after it was lost. */
  constructor(url: URL, opened: (connection: Connection) => void) {
    this.#host = url.hostname.replace(/^\[|\]$/g, '');
    this.#port = Number(url.port || 80);
    this.#opened = opened;
    this.#connect();
  }

  /** Sends a request; nothing else may be under way. */
  send(bytes: Buffer, answered: Answered): void {
    if (this.#answered !== undefined) throw new Error('one request at a time');
    this.#answered = answered;
    if (this.#socket === undefined) this.#end(0, NOTHING);
    else this.#socket.write(bytes);
  }

  close(): void {
    this.#closed = true;
    this.#socket?.destroy();
  }

  #connect(): void {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    socket.on('connect', () => {
      this.#socket = socket;
      this.#opened(this);
    });
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => {
      this.#socket = undefined;
      this.#arrived = NOTHING;
      this.#wanted = 0;
      this.#end(0, NOTHING);
      if (!this.#closed) setTimeout(() => this.#closed || this.#connect(), RECONNECT_MS);
    });
  }

  #read(chunk: Buffer): void {
    this.#arrived = this.#arrived.length === 0 ? chunk : Buffer.concat([this.#arrived, chunk]);
    if (this.#wanted === 0 && !this.#readHead()) return;
    if (this.#arrived.length < this.#wanted) return;
    const status = Number(this.#arrived.toString('latin1', STATUS_FROM, STATUS_TO));
    const body = this.#arrived.subarray(this.#headBytes, this.#wanted);
    this.#arrived = this.#arrived.subarray(this.#wanted);
    this.#wanted = 0;
    this.#end(status, body);
  }

  #readHead(): boolean {
    const end = this.#arrived.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = this.#arrived.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#socket?.destroy();
      return false;
    }
    this.#headBytes = end + HEAD_END.length;
    this.#wanted = this.#headBytes + Number(length);
    return true;
  }

  #end(status: number, body: Buffer): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(status, body);
  }
}
