/**
 * What waits for the readers of all WebSockets together, which has a bound: who has the most of it is cut
 * first. A bound for each of them alone would let a thousand slow readers hold a thousand times as much.
 *
 * Thread: the I/O thread.
 */

/** A connection as the bound sees it. */
export interface Waiting {
  /** Bytes that the peer has not taken yet. */
  waiting(): number;
  /** Ends the connection at once; what waits is given up. */
  cut(): void;
}

/**
 * The backlog of the sockets is read once so much of the bound may have been added: reading each of them after
 * every frame would cost more than the frame. All together never have more waiting than the bound and this part.
 */
const UNSEEN_SHARE = 8;

export class SocketBacklog {
  private readonly bytesMax: number;
  private readonly open: ReadonlySet<Waiting>;
  private readonly log: (line: string) => void;
  /** Added since the sockets were read; never less than what was. */
  private unseen = 0;
  private isDue = false;

  constructor(bytesMax: number, open: ReadonlySet<Waiting>, log: (line: string) => void) {
    this.bytesMax = bytesMax;
    this.open = open;
    this.log = log;
  }

  /** After so many bytes were queued for `readers` of the sockets. */
  added(bytes: number, readers: number): void {
    this.unseen += bytes * readers;
    if (this.isDue || this.unseen * UNSEEN_SHARE < this.bytesMax) return;
    this.isDue = true;
    // Not now: who sends is in the middle of something that the end of a connection would change.
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
