/**
 * A proxy before a node with faults of networks: it loses answers of the node, cuts connections
 * before the node gets a request, answers in place of the node, and drops frames of streams.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export type Fault =
  /** The node executes the request, and the answer is lost. */
  | 'lose'
  /** The node never gets the request. */
  | 'cut'
  /** The node executes the request, and the client gets the answer of a full disk. */
  | 'unavailable'
  /** The request is refused for its rate. */
  | 'throttle'
  /** The request is refused until the venue has restarted. */
  | 'restart'
  | 'busy'
  /** The node executes the request, and its answer takes longer than any client waits. */
  | 'hang';

const ANSWERS = {
  unavailable: [503, '{"error":"journal unavailable"}'],
  restart: [425, '{"error":"the matching engine is restarting"}'],
  throttle: [429, '{"error":"Too Many Requests"}'],
  busy: [503, '{"error":"engine busy"}'],
} as const;

export class FaultyProxy {
  readonly faults: Fault[] = [];
  readonly forwarded: string[] = [];
  drops: (text: string) => boolean = () => false;
  readonly #streams = new Set<Socket>();
  readonly #server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  readonly #node: { readonly port: number };

  private constructor(node: { readonly port: number }) {
    this.#node = node;
    this.#server.on('upgrade', (incoming, socket) => this.#stream(incoming, socket as Socket));
  }

  static async start(node: { readonly port: number }): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(node);
    proxy.#server.listen(0, '127.0.0.1').unref();
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends every stream without a close frame. */
  cutStreams(): void {
    for (const socket of this.#streams) socket.destroy();
  }

  stop(): void {
    this.cutStreams();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const fault = this.faults.shift();
    if (fault === 'cut') {
      incoming.socket.destroy();
    } else if (fault === 'throttle' || fault === 'restart' || fault === 'busy') {
      incoming.resume();
      incoming.on('end', () => answer(outgoing, fault));
    } else {
      const { headers, method, url } = incoming;
      this.forwarded.push(`${method} ${url}`);
      const options = { host: '127.0.0.1', port: this.#node.port, method, path: url, headers };
      const forward = request(options, (reply) => {
        if (fault === undefined) {
          outgoing.writeHead(reply.statusCode ?? 0, reply.headers);
          reply.pipe(outgoing);
          return;
        }
        reply.resume();
        reply.on('end', () => {
          if (fault === 'lose') incoming.socket.destroy();
          else if (fault === 'unavailable') answer(outgoing, fault);
        });
      });
      forward.on('error', () => incoming.socket.destroy());
      incoming.pipe(forward);
    }
  }

  #stream({ headers, url }: IncomingMessage, client: Socket): void {
    const node = connect(this.#node.port, '127.0.0.1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    node.write(`GET ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    this.#streams.add(client);
    client.pipe(node);
    let rest: Buffer = Buffer.alloc(0);
    let isOpen = false;
    node.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      if (!isOpen) {
        const end = rest.indexOf('\r\n\r\n');
        if (end < 0) return;
        isOpen = true;
        client.write(rest.subarray(0, end + 4));
        rest = rest.subarray(end + 4);
      }
      rest = this.#frames(rest, client);
    });
    for (const [one, other] of [
      [client, node],
      [node, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#streams.delete(client);
        other.destroy();
      });
    }
  }

  /** Passes whole frames on; returns the incomplete rest. */
  #frames(bytes: Buffer, client: Socket): Buffer {
    let at = 0;
    while (at + 2 <= bytes.length) {
      const short = bytes[at + 1]! & 0x7f;
      const head = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (at + head > bytes.length) break;
      const length =
        short === 126
          ? bytes.readUInt16BE(at + 2)
          : short === 127
            ? Number(bytes.readBigUInt64BE(at + 2))
            : short;
      const end = at + head + length;
      if (end > bytes.length) break;
      const isDropped = this.drops(bytes.toString('utf8', at + head, end));
      if (!isDropped) client.write(bytes.subarray(at, end));
      at = end;
    }
    return bytes.subarray(at);
  }
}

function answer(outgoing: ServerResponse, fault: keyof typeof ANSWERS): void {
  const [status, body] = ANSWERS[fault];
  outgoing.writeHead(status, { 'Content-Type': 'application/json' });
  outgoing.end(body);
}
