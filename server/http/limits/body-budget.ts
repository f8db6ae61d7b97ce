/**
 * Bytes of bodies received in one event-loop iteration, of all callers.
 *
 * Each ready connection brings up to half a mebibyte. Memory touched for the first time takes the system 50
 * to 100 ms for each 64 MiB, so hundreds of simultaneous bodies delayed all other requests by a second.
 * Beyond the bound unfinished bodies are paused; later iterations resume some of them in order of arrival.
 *
 * A body that arrives in one piece is not counted, and the first piece of any body is taken. Thread: I/O.
 */

interface Reading {
  pause(): void;
  resume(): void;
}

const BYTES_PER_TURN = 2 ** 20;
/** Resumed bodies that exceed the bound together are paused again. */
const RESUMED_PER_TURN = 8;

export class BodyBudget {
  private readonly reading = new Set<Reading>();
  private readonly paused = new Set<Reading>();
  private bytes = 0;
  private isTurnDue = false;

  received(body: Reading, bytes: number): void {
    this.bytes += bytes;
    if (!this.paused.has(body)) this.reading.add(body);
    this.wantTurn();
    if (this.bytes <= BYTES_PER_TURN) return;
    for (const each of this.reading) {
      each.pause();
      this.paused.add(each);
    }
    this.reading.clear();
  }

  ended(body: Reading): void {
    // Several pieces of a chunked body may arrive at once.
    if (this.paused.has(body)) body.resume();
    this.gone(body);
  }

  /** Forgets a closed connection. */
  gone(body: Reading): void {
    this.reading.delete(body);
    this.paused.delete(body);
  }

  private wantTurn(): void {
    if (this.isTurnDue) return;
    this.isTurnDue = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.isTurnDue = false;
    this.bytes = 0;
    let left = RESUMED_PER_TURN;
    for (const body of this.paused) {
      this.paused.delete(body);
      this.reading.add(body);
      body.resume();
      left -= 1;
      if (left === 0) break;
    }
    if (this.paused.size > 0) this.wantTurn();
  }
}
