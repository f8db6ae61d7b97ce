/**
 * How many bytes of bodies are received between two turns of the event loop, of all callers. Each ready
 * connection brings up to half a mebibyte, and memory that is touched for the first time takes the system 50 to
 * 100 ms for each 64 MiB: hundreds of bodies that come at once held up everybody else for a second. Beyond the bound
 * bodies on their way are not read on; some of them at a time go on in later turns, in the order of their coming.
 *
 * A body that comes in one piece counts nothing, and the first piece of any is taken. Thread: I/O.
 */

/** A connection with a body on its way. */
interface Reading {
  pause(): void;
  resume(): void;
}

const BYTES_PER_TURN = 2 ** 20;
/** What all of them bring is paused anew where it is too much. */
const RESUMED_PER_TURN = 8;

export class BodyBudget {
  /** Of these more may come at any time. */
  private readonly reading = new Set<Reading>();
  private readonly paused = new Set<Reading>();
  private bytes = 0;
  private isTurnDue = false;

  /** So many bytes of a body have come, and more are to come. */
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

  /** Its body has ended, or is dropped: its connection is read on. */
  ended(body: Reading): void {
    // Several pieces of a chunked body may come at once.
    if (this.paused.has(body)) body.resume();
    this.gone(body);
  }

  /** The connection is closed. */
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
