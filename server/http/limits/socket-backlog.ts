/**
 * Bound of the bytes queued for the readers of all WebSockets together; the reader with the longest queue is
 * cut first. A bound for each alone would let a thousand slow readers hold a thousand times as much.
 *
 * Thread: I/O.
 */

export interface Waiting {
  waiting(): number;
  cut(): void;
}

/**
 * Queues are read after this share of the bound may have been added: reading each after every frame would
 * cost more than the frame. All queues together never exceed the bound and this share.
 */
const UNSEEN_SHARE = 8;

export class SocketBacklog {
  private readonly bytesMax: number;
  private readonly open: ReadonlySet<Waiting>;
  private readonly log: (line: string) => void;
  /** Bytes added since the queues were read, an upper estimate. */
  private unseen = 0;
  private isDue = false;

  constructor(bytesMax: number, open: ReadonlySet<Waiting>, log: (line: string) => void) {
    this.bytesMax = bytesMax;
    this.open = open;
    this.log = log;
  }

  added(bytes: number, readers: number): void {
    this.unseen += bytes * readers;
    if (this.isDue || this.unseen * UNSEEN_SHARE < this.bytesMax) return;
    this.isDue = true;
    // Deferred: the sender is in the middle of work that the end of a connection would change.
    queueMicrotask(() => this.look());
  }

  private look(): void {
    this.isDue = false;
    this.unseen = 0;
    let sum = 0;
    for (const socket of this.open) sum += socket.waiting();
    if (sum <= this.bytesMax) return;
    const bySize = [...this.open]
      .map((socket) => ({ socket, bytes: socket.waiting() }))
      .sort((a, b) => b.bytes - a.bytes);
    let left = sum;
    let cut = 0;
    for (; left > this.bytesMax; cut++) {
      const { bytes, socket } = bySize[cut]!;
      socket.cut();
      left -= bytes;
    }
    this.log(`streams: ${sum} bytes waited for all readers: the slowest were cut, ${cut} of them`);
  }
}
