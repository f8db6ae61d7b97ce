/**
 * Sockets of stream connections that faults may strike. While one does, a connection is out of the topics of the server,
 * and each frame is sent to it by itself. Rules: docs/protocol.md#faults
 *
 * Thread: I/O. Only with FAULTS=operator or on.
 */
import { tokenMarket } from '../../engine/reads.ts';
import type { Tables } from '../../engine/tables/tables.ts';
import type { TokenRow } from '../../engine/tables/units.ts';
import { bytesToHex } from '../common/uint256.ts';
import { type Fault, type Faults, isInTarget, type Subject } from '../faults/faults.ts';
import { holdsText } from '../faults/holds-text.ts';
import type { FaultKind } from '../faults/kinds.ts';
import type { Publish, Socket } from '../http/sockets.ts';
import { marketByCondition } from '../market-data/find.ts';

/** Kinds that strike single messages. */
const DIVERTING: readonly FaultKind[] = ['stream-frozen', 'stream-gap', 'stream-repeat'];

/** Code and reason of a closed stream. Published clients name none: 1012 is a restart of the service. */
const CLOSE_CODE = 1012;
const CLOSE_REASON = 'service restart';

const KEEP_ALIVE = 'PONG';
/** Topics of a token (topics.ts). */
const TOKEN_TOPIC = /^(?:asset|best) (\d+)$/;

export class FaultySockets {
  readonly faults: Faults;
  readonly tables: Tables;
  private readonly open = new Set<FaultySocket>();
  readonly diverted = new Set<FaultySocket>();

  constructor(faults: Faults, tables: Tables) {
    this.faults = faults;
    this.tables = tables;
    faults.whenChanged((fault, what) => {
      if (DIVERTING.includes(fault.kind)) this.divert(fault);
      else if (fault.kind === 'stream-closed' && what === 'began') this.close(fault);
    });
  }

  /** Sends a frame to the members of a topic, and to those that are diverted. */
  publishing(publish: Publish): Publish {
    return (topic, text) => {
      publish(topic, text);
      if (this.diverted.size === 0) return;
      // A use that ends a fault takes connections out of the set.
      for (const socket of [...this.diverted]) socket.published(topic, text);
    };
  }

  socketOf(inner: Socket): FaultySocket {
    const socket = new FaultySocket(this, inner);
    this.open.add(socket);
    socket.divert();
    return socket;
  }

  closed(socket: FaultySocket): void {
    this.open.delete(socket);
    this.diverted.delete(socket);
  }

  private divert({ target }: Fault): void {
    for (const socket of this.open) if (isInTarget(target, socket.owner)) socket.divert();
  }

  private close({ target }: Fault): void {
    for (const socket of this.open) if (isInTarget(target, socket)) socket.mayClose();
  }
}

export class FaultySocket implements Socket, Subject {
  key = '';
  wallet = '';
  private readonly sockets: FaultySockets;
  private readonly inner: Socket;
  private readonly topics = new Set<string>();
  /** The connection by its key and wallet alone: which market a message is of is seen when it comes. */
  owner: Subject = { key: '', wallet: '', isOf: () => true };
  private isDiverted = false;
  private isClosing = false;

  constructor(sockets: FaultySockets, inner: Socket) {
    this.sockets = sockets;
    this.inner = inner;
  }

  /** Names the owner of the connection, once its credentials are checked. */
  identified(key: string, address: Uint8Array): void {
    const wallet = bytesToHex(address, 0, address.length);
    this.key = key;
    this.wallet = wallet;
    this.owner = { ...this.owner, key, wallet };
    this.divert();
    this.mayClose();
  }

  /** True where the connection follows the market. */
  isOf(condition: string): boolean {
    const { tables } = this.sockets;
    const market = marketByCondition(tables, condition);
    return [...this.topics].some((topic) => {
      const [, token] = TOKEN_TOPIC.exec(topic) ?? [];
      if (token === undefined) return topic.includes(condition);
      return market !== 0 && tokenMarket(tables, Number(token) as TokenRow) === market;
    });
  }

  /** Joins or leaves the topics of the server, as faults may strike the connection or not. */
  divert(): void {
    const { faults } = this.sockets;
    const isDiverted = DIVERTING.some((kind) => faults.reaches(kind, this.owner));
    if (isDiverted === this.isDiverted) return;
    this.isDiverted = isDiverted;
    if (isDiverted) {
      this.sockets.diverted.add(this);
      for (const topic of this.topics) this.inner.leave(topic);
    } else {
      this.sockets.diverted.delete(this);
      for (const topic of this.topics) this.inner.join(topic);
    }
  }

  /** Closes the connection after this call where a fault strikes it. */
  mayClose(): void {
    if (this.isClosing) return;
    if (this.sockets.faults.take('stream-closed', this) === undefined) return;
    this.isClosing = true;
    setImmediate(() => this.inner.end(CLOSE_CODE, CLOSE_REASON));
  }

  published(topic: string, text: Uint8Array): void {
    if (!this.topics.has(topic) || this.isStruck('stream-frozen', text)) return;
    if (this.isStruck('stream-gap', text)) return;
    this.inner.send(text);
    if (this.isStruck('stream-repeat', text)) this.inner.send(text);
  }

  send(text: string | Uint8Array): void {
    if (this.isDiverted && text !== KEEP_ALIVE && this.isStruck('stream-frozen', text)) return;
    this.inner.send(text);
  }

  join(topic: string): void {
    this.topics.add(topic);
    if (!this.isDiverted) this.inner.join(topic);
    this.mayClose();
  }

  leave(topic: string): void {
    this.topics.delete(topic);
    if (!this.isDiverted) this.inner.leave(topic);
  }

  waiting(): number {
    return this.inner.waiting();
  }

  end(code: number, reason: string): void {
    this.inner.end(code, reason);
  }

  refuse(code: number, reason: string): void {
    this.inner.refuse(code, reason);
  }

  cut(): void {
    this.inner.cut();
  }

  private isStruck(kind: FaultKind, text: string | Uint8Array): boolean {
    const { faults } = this.sockets;
    if (!faults.isActive(kind)) return false;
    const { key, wallet } = this;
    const isOf = (condition: string): boolean => holdsText(text, condition);
    return faults.take(kind, { key, wallet, isOf }) !== undefined;
  }
}
