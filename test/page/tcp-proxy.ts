/** One address before nodes of a venue, as a load balancer is: connections go to the target of the moment. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export class TcpProxy {
  target: { readonly port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #server = createServer((client) => {
    const node = connect(this.target.port, '127.0.0.1');
    const pair = [client, node] as const;
    this.#pairs.add(pair);
    client.pipe(node).pipe(client);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  });

  private constructor(target: { readonly port: number }) {
    this.target = target;
  }

  static async start(target: { readonly port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1').unref();
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Keeps the connections of now open, and passes nothing more through them. */
  silence(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.unpipe().pause();
  }

  stop(): void {
    this.#server.close();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }
}
