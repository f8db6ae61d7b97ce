/**
 * One kept-alive HTTP/1.1 connection that sends requests which are bytes already, one at a time, and
 * spends as little processor as it can: on a small machine the node needs it.
 * Thread: the tool's only one.
 * Non-goals: TLS, pipelining, trailers of chunked answers.
 */
import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const RECONNECT_MS = 100;
/** "HTTP/1.1 200": where the status begins and ends. */
const STATUS_FROM = 9;
const STATUS_TO = 12;

/** `status` 0: the connection ended before the answer was whole. */
export type Answered = (status: number, body: Buffer) => void;

/** A whole body, and where it ends in what has arrived. */
interface Whole {
  readonly body: Buffer;
  readonly end: number;
}

const NOTHING: Buffer = Buffer.alloc(0);

export class Connection {
  readonly #host: string;
  readonly #port: number;
  readonly #opened: (connection: Connection) => void;
  #socket: Socket | undefined;
  #answered: Answered | undefined;
  #arrived: Buffer = NOTHING;
  /** 0 until the head is there. */
  #headBytes = 0;
  /** undefined: the body comes in chunks. */
  #bodyBytes: number | undefined;
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
      this.#headBytes = 0;
      this.#end(0, NOTHING);
      if (!this.#closed) setTimeout(() => this.#closed || this.#connect(), RECONNECT_MS);
    });
  }

  #read(chunk: Buffer): void {
    this.#arrived = this.#arrived.length === 0 ? chunk : Buffer.concat([this.#arrived, chunk]);
    if (this.#headBytes === 0 && !this.#readHead()) return;
    const whole = this.#bodyBytes === undefined ? this.#readChunks() : this.#readBody();
    if (whole === undefined) return;
    const status = Number(this.#arrived.toString('latin1', STATUS_FROM, STATUS_TO));
    this.#arrived = this.#arrived.subarray(whole.end);
    this.#headBytes = 0;
    this.#end(status, whole.body);
  }

  #readHead(): boolean {
    const end = this.#arrived.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = this.#arrived.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#headBytes = end + HEAD_END.length;
    this.#bodyBytes = length === undefined ? undefined : Number(length);
    return true;
  }

  #readBody(): Whole | undefined {
    const end = this.#headBytes + (this.#bodyBytes ?? 0);
    if (this.#arrived.length < end) return undefined;
    return { body: this.#arrived.subarray(this.#headBytes, end), end };
  }

  /** An answer without a length comes in chunks: refusals do. */
  #readChunks(): Whole | undefined {
    const chunks: Buffer[] = [];
    for (let at = this.#headBytes; ; ) {
      const lineEnd = this.#arrived.indexOf(LINE_END, at);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(this.#arrived.toString('latin1', at, lineEnd), 16);
      if (!(size >= 0)) {
        this.#socket?.destroy(); // no answer that HTTP knows
        return undefined;
      }
      const from = lineEnd + LINE_END.length;
      const end = from + size + LINE_END.length;
      if (this.#arrived.length < end) return undefined;
      if (size === 0) return { body: Buffer.concat(chunks), end };
      chunks.push(this.#arrived.subarray(from, from + size));
      at = end;
    }
  }

  #end(status: number, body: Buffer): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(status, body);
  }
}
