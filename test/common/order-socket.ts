/** A connection of /ws/user that sends requests of orders; events of its wallet are left out. */
import assert from 'node:assert/strict';
import type { OperationName } from '../../server/streams/request-frames.ts';
import { until } from './node-harness.ts';
import { type Closed, SocketClient } from './socket-client.ts';

export interface Answer {
  readonly op: string;
  readonly id: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Credentials without a subscription. */
export const onlyAuth = (auth: object): object => ({
  type: 'user',
  operation: 'unsubscribe',
  auth,
  ack: true,
});

export class OrderSocket {
  readonly client: SocketClient;
  /** Answers by id that no test has taken, and the problems of messages. */
  readonly answers = new Map<string, Answer>();
  readonly problems: Readonly<Record<string, unknown>>[] = [];
  private requests = 0;
  private isReady = false;

  private constructor(client: SocketClient) {
    this.client = client;
    client.onText = (text) => this.take(text);
  }

  static async open(node: { readonly port: number }, auth: object): Promise<OrderSocket> {
    const socket = new OrderSocket(await SocketClient.open(node, '/ws/user'));
    socket.client.send(onlyAuth(auth));
    await until(() => socket.isReady || socket.client.closed !== undefined);
    return socket;
  }

  /** Sends a request with a body of exactly this text; returns its id. */
  send(op: OperationName, body: string): string {
    this.requests += 1;
    const id = `r ${this.requests}`;
    this.client.send(`{"op":"${op}","id":"${id}","body":${body}}`);
    return id;
  }

  async ask(op: OperationName, body: string): Promise<Answer> {
    return this.answer(this.send(op, body));
  }

  async answer(id: string): Promise<Answer> {
    await until(() => this.answers.has(id) || this.client.closed !== undefined);
    const answer = this.answers.get(id);
    assert(answer !== undefined, `closed: ${JSON.stringify(this.client.closed)}`);
    this.answers.delete(id);
    return answer;
  }

  ended(): Promise<Closed> {
    return this.client.ended();
  }

  private take(text: string): void {
    const message = JSON.parse(text) as Record<string, unknown>;
    if (message.event_type === 'answer') {
      const answer = message as unknown as Answer;
      assert(!this.answers.has(answer.id), 'a request is answered once');
      this.answers.set(answer.id, answer);
    } else if (message.event_type === 'subscription') this.isReady = true;
    else if ('error' in message) this.problems.push(message);
  }
}
