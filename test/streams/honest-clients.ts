/**
 * Clients of a node's market channel that connect, read, are cut, come back, and change
 * subscriptions; each compares its books.
 */
import assert from 'node:assert/strict';
import type { Random } from '../common/random.ts';
import { SocketClient } from '../common/socket-client.ts';
import { BookFollower } from './book-follower.ts';

export class HonestClient {
  follower = new BookFollower();
  wanted: string[] = [];
  reconnects = 0;
  confirmed = 0;
  private readonly place: { readonly port: number };
  private readonly random: Random;
  private client: SocketClient | undefined;
  private fault: unknown;
  private pongs = 0;

  constructor(place: { readonly port: number }, random: Random) {
    this.place = place;
    this.random = random;
  }

  async connect(tokens: readonly string[]): Promise<void> {
    this.client?.cut();
    this.confirmed += this.follower.confirmed;
    this.follower = new BookFollower();
    this.wanted = [...new Set(Array.from({ length: 3 }, () => this.random.pick(tokens)))];
    const client = await SocketClient.open(this.place, '/ws/market');
    this.client = client;
    client.onText = (text) => {
      if (this.client !== client) return;
      try {
        if (text === 'PONG') this.pongs += 1;
        else this.follower.take(text);
      } catch (error) {
        this.fault ??= error;
      }
    };
    client.send({ type: 'market', assets_ids: this.wanted });
    this.reconnects += 1;
  }

  async act(tokens: readonly string[]): Promise<void> {
    const roll = this.random.below(10);
    if (roll < 2 || this.client === undefined) await this.connect(tokens);
    else if (roll < 4) this.client.send({ operation: 'subscribe', assets_ids: this.wanted });
    else if (roll < 6) {
      const token = this.random.pick(tokens);
      if (!this.wanted.includes(token)) this.wanted.push(token);
      this.client.send({ type: 'market', assets_ids: [token] });
    }
  }

  /** Resolves when everything that was sent has been read. */
  async caughtUp(): Promise<void> {
    const { client } = this;
    assert(client !== undefined);
    const before = this.pongs;
    client.send('PING');
    const deadline = performance.now() + 60_000;
    while (this.pongs === before) {
      assert(client.closed === undefined, `closed: ${JSON.stringify(client.closed)}`);
      assert(performance.now() < deadline, 'no answer to a PING');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    if (this.fault !== undefined) throw this.fault;
  }

  end(): void {
    this.confirmed += this.follower.confirmed;
    this.client?.cut();
  }
}
